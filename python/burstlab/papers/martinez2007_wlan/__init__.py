"""Martinez-Yelmo, Soto, Larrabeiti and Guerrero 2007: 802.11b access to a burst-switched core."""
