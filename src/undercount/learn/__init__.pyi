from .pu_auc import PUAUCClassifier as PUAUCClassifier
from .pu_aul import PUAULClassifier as PUAULClassifier
