"""Steps of lanes in vector registers, written for LLVM: its vectoriser leaves loops as short as these alone."""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = ["LANES", "best_moves_in_lanes"]

LANES = 16


@intrinsic
def best_moves_in_lanes(context, value, turned, here, now, origin):
    """For each j and lane, max_i (value_i + turned_ji) + here_j into `now`, and the first best i into `origin`.

    Values are (states, LANES), origins bytes, and all arrays contiguous.
    """

    def generate(context, builder, signature, arguments):
        made = [context.make_array(kind)(context, builder, given) for kind, given in zip(signature.args, arguments)]
        value, turned, here, now, origin = (array.data for array in made)
        n_states = cgutils.unpack_tuple(builder, made[0].shape, 2)[0]
        values, places, bytes_ = (
            ir.VectorType(kind, LANES) for kind in (ir.DoubleType(), ir.IntType(64), ir.IntType(8))
        )
        zero, one = context.get_constant(types.intp, 0), context.get_constant(types.intp, 1)
        best, where = cgutils.alloca_once(builder, values), cgutils.alloca_once(builder, places)

        def line(base, number, kind):
            at = builder.gep(base, [builder.mul(number, context.get_constant(types.intp, LANES))])
            return builder.bitcast(at, kind.as_pointer())

        def spread(number, kind):
            nothing, order = ir.Constant(kind, ir.Undefined), ir.VectorType(ir.IntType(32), LANES)
            first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
            return builder.shuffle_vector(first, nothing, ir.Constant(order, [0] * LANES))

        def candidate(i, first):
            move = builder.load(builder.gep(turned, [builder.add(first, i)]))
            return builder.fadd(builder.load(line(value, i, values), align=8), spread(move, values))

        with cgutils.for_range(builder, n_states) as loop:
            j = loop.index
            first = builder.mul(j, n_states)
            builder.store(candidate(zero, first), best)
            builder.store(spread(zero, places), where)
            with cgutils.for_range_slice(builder, one, n_states, one) as (i, _):
                new, old = candidate(i, first), builder.load(best)
                better = builder.fcmp_ordered(">", new, old)
                builder.store(builder.select(better, new, old), best)
                builder.store(builder.select(better, spread(i, places), builder.load(where)), where)
            total = builder.fadd(builder.load(best), builder.load(line(here, j, values), align=8))
            builder.store(total, line(now, j, values), align=8)
            builder.store(builder.trunc(builder.load(where), bytes_), line(origin, j, bytes_), align=1)
        return context.get_dummy_value()

    return types.void(value, turned, here, now, origin), generate
