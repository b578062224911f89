"""One error and three warnings, so that users can catch what is ours."""


class InputError(ValueError):
    """Report that an input breaks a rule: the rule, the value got, and a hint.

    Examples
    --------
    >>> import undercount as uc
    >>> try:
    ...     uc.ScoreCounts.from_rows([1, 0], [0.9])
    ... except uc.InputError as error:
    ...     print(error)
    y and score must have the same length; got 2 and 1 rows
    """


class UndefinedMetricWarning(UserWarning):
    """Warn that a metric is 0/0 and therefore NaN.

    Examples
    --------
    >>> import undercount as uc
    >>> issubclass(uc.UndefinedMetricWarning, UserWarning)
    True
    """


class MisfitWarning(UserWarning):
    """Warn that data and assumptions do not fit each other; the message says by how much.

    Examples
    --------
    >>> import undercount as uc
    >>> issubclass(uc.MisfitWarning, UserWarning)
    True
    """


class SmallSampleWarning(UserWarning):
    """Warn that there are too few labels for an interval to keep its promise.

    Examples
    --------
    >>> import undercount as uc
    >>> issubclass(uc.SmallSampleWarning, UserWarning)
    True
    """
