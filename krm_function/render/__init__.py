"""The pipeline.

read -> select -> identity -> namespace -> resolve -> inject -> schedule -> policy -> manifest -> write -> prove

Rule of this package: `render` calls the stages in this order, the first half of them through `prepare`, which other
commands share; the other files hold the records that stages hand on.
"""
