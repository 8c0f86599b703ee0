"""How well the tests know the policy rules: requests tried, engines that agree, conditions whose loss is noticed."""
