"""Labels only where somebody looked (Cook 2016).

In order: `sample` reads rows and standardises their columns, on a `score_scale`; `column_model` (by
`binary_regression`) or `hidden_model` (by `biprobit`, on the `bivariate_normal` distribution)
describes the classes of all rows; `empirical_curve` or `gaussian_curve` draws their curve; `fit`
joins these three steps; `intervals`, `profile` (by `critical_values`), `roc_band` and `checks` say
how sure that is. `model` asks them all, `differences` two of them; `assumption` is what a user
says, and `recovery` what that makes of rows.
"""
