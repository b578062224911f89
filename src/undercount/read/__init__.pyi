from . import metrics as metrics
from . import scorers as scorers
