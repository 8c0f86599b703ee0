"""Assess an application before there is any configuration: which pods are confidential, and which cannot be."""

from krm_function.assessment.assess import AssessedPod, Assessment, PodState, assess

__all__ = ["AssessedPod", "Assessment", "PodState", "assess"]
