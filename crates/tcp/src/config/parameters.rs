//! One list of parameters, written twice: as a user writes them, and resolved.

/// Writes one list of parameters twice: as `Config`, where every field has a value, and as
/// `Overrides`, where every field may be left out. A parameter after `linux` or `classes` has a
/// value only where something needs it, and a parameter after `rare` where it is written.
macro_rules! parameters {
    (
        $($(#[doc = $doc:literal])+ $name:ident: $type:ty,)+
        rare
        $($(#[doc = $rare_doc:literal])+ $rare:ident: $rare_type:ty,)+
        linux
        $($(#[doc = $linux_doc:literal])+ $linux:ident: $linux_type:ty,)+
        classes
        $($(#[doc = $class_doc:literal])+ $class:ident,)+
    ) => {
        /// The parameters of an endpoint, resolved: every field has its value. Made by
        /// [`Config::resolve`].
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $name: $type,)+
            $(
                $(#[doc = $rare_doc])+
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $rare: Option<$rare_type>,
            )+
            $(
                $(#[doc = $linux_doc])+
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $linux: Option<$linux_type>,
            )+
            $(
                $(#[doc = $class_doc])+
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $class: Option<PythonClass>,
            )+
        }

        /// The parameters of an endpoint as a user writes them: a parameter that is left out has
        /// the value of the profile.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "Tcp")]
        pub struct Overrides {
            $(
                $(#[doc = $doc])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $name: Option<$type>,
            )+
            $(
                $(#[doc = $rare_doc])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $rare: Option<$rare_type>,
            )+
            $(
                $(#[doc = $linux_doc])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $linux: Option<$linux_type>,
            )+
            $(
                $(#[doc = $class_doc])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $class: Option<PythonClass>,
            )+
        }

        impl Overrides {
            /// These parameters, and those of `base` where these say nothing.
            #[must_use]
            pub fn over(&self, base: &Self) -> Self {
                Self {
                    $($name: self.$name.or(base.$name),)+
                    $($rare: self.$rare.or(base.$rare),)+
                    $($linux: self.$linux.or(base.$linux),)+
                    $($class: self.$class.clone().or_else(|| base.$class.clone()),)+
                }
            }

            /// Writes what is given here over `config`.
            fn apply(&self, config: &mut Config) {
                $(if let Some(value) = self.$name { config.$name = value; })+
                $(config.$rare = self.$rare;)+
                let linux = config.variant == Variant::Linux;
                $(config.$linux = self.$linux.filter(|_| linux);)+
                $(config.$class.clone_from(&self.$class);)+
            }
        }
    };
}
