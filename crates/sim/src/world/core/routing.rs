//! The routes as they are now.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::topology::Routes;

/// The routes of a network, which follow failures.
///
/// Two nodes that no path joins keep the routes that they had. So the routes depend on the order of
/// the failures before, and are stored once a failure has changed them. Before that they are those
/// of the scenario, which has millions of links in a large network, and are not stored.
#[derive(Clone, Debug)]
pub(super) struct CurrentRoutes {
    /// Shared with the scenario until a failure changes them.
    routes: Arc<Routes>,
    /// Whether they were ever found anew.
    rerouted: bool,
}

impl CurrentRoutes {
    /// Those of a scenario.
    pub(super) fn new(routes: Arc<Routes>) -> Self {
        Self { routes, rerouted: false }
    }

    /// From now on these are the routes.
    pub(super) fn follow(&mut self, routes: Routes) {
        (self.routes, self.rerouted) = (Arc::new(routes), true);
    }

    /// Takes what is not stored from those of the same scenario.
    pub(super) fn adopt(&mut self, fresh: Self) {
        if !self.rerouted {
            self.routes = fresh.routes;
        }
    }
}

impl Deref for CurrentRoutes {
    type Target = Routes;

    fn deref(&self) -> &Routes {
        &self.routes
    }
}

impl Serialize for CurrentRoutes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.rerouted.then_some(&*self.routes).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CurrentRoutes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Option::<Routes>::deserialize(deserializer)?;
        let rerouted = stored.is_some();
        Ok(Self { routes: Arc::new(stored.unwrap_or_default()), rerouted })
    }
}
