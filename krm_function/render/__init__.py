"""The pipeline.

read -> select -> identity -> namespace -> resolve -> inject -> schedule -> policy -> manifest -> write -> prove

Rule of this package: `render` calls the stages in this order, the first half of them by `prepare`, which others share;
the other files hold what is handed from one to the next.
"""
