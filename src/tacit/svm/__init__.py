"""Support vector machines: the widest margin, by sequential minimal optimisation.

max bᵀβ − ε‖β‖₁ − ½ βᵀKβ,    l ≤ β ≤ h, Σβ given
"""

from .one_class import OneClassSVM
from .svc import SVC, NuSVC
from .svr import SVR, NuSVR

__all__ = ["SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"]
