"""scikit-learn's own tests of support vector machines, run against ours."""

from .borrowed import borrow

COMMON = {
    "from sklearn import base, datasets, linear_model, metrics, svm\n": (
        "from sklearn import base, datasets, linear_model, metrics\nimport types\nimport sklearn.svm\n"
        "import tacit.svm as ours\n"
        "from tacit.svm import SVC, NuSVC, SVR, NuSVR, OneClassSVM\n"
        "svm = types.SimpleNamespace(**{**vars(sklearn.svm), **{n: getattr(ours, n) for n in ours.__all__}})\n"
    ),
    "from sklearn.svm import (\n    SVR,\n    LinearSVC,\n    LinearSVR,\n    NuSVR,\n    OneClassSVM,\n    _libsvm,\n)": (
        "from sklearn.svm import LinearSVC, LinearSVR, _libsvm"
    ),
    "@pytest.mark.thread_unsafe\n": "",
    # Equal to 1e-3 at the default tol=1e-3 is luck.
    'est = Estimator(kernel="linear")\n    est.fit(X, Y': 'est = Estimator(kernel="linear", tol=1e-5)\n    est.fit(X, Y',
    # Ours are public.
    "clf._dual_coef_ = np.array([[0.0, 1.0]])": "clf.dual_coef_ = np.array([[0.0, -1.0]])",
    "clf._gamma": "clf.gamma_",
    "clf._n_support[0]": "clf.n_support_[0]",
}

REFUSED = "a kernel function whose matrix has not the right shape is refused by fit already"
KEPT = "probability=True is kept: its probabilities come from rows held out, so no warning says that it will go"
DIFFERENCES = {
    "test_svr_errors": REFUSED,
    "test_svc_nonfinite_params": "cells whose squares overflow are refused before, with the column's name",
    "test_probability_raises_futurewarning": KEPT,
    "test_svc_nusvc_probA_probB_deprecated": KEPT,
}

globals().update(borrow("sklearn.svm.tests.test_svm", COMMON, DIFFERENCES))

SPARSE = {
    "from sklearn import base, datasets, linear_model, svm\n": (
        "from sklearn import base, datasets, linear_model\nimport types\nimport sklearn.svm\nimport tacit.svm as ours\n"
        "svm = types.SimpleNamespace(**{**vars(sklearn.svm), **{n: getattr(ours, n) for n in ours.__all__}})\n"
        "SVC = svm.SVC\n"
    ),
    "from sklearn.svm.tests import test_svm\n": "",
    "@pytest.mark.thread_unsafe\n": "",
}
sparse = borrow("sklearn.svm.tests.test_sparse", SPARSE, {})
globals().update({f"{name}_sparse" if name.startswith("test_") else name: test for name, test in sparse.items()})
