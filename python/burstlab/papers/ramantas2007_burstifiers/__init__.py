"""Ramantas, Vlachos, González de Dios, Raffaelli (ONDM 2007): TCP over timer burstifiers."""
