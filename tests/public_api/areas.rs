//! The areas of the listing: one for each public module. What stands in private modules below belongs to the area that
//! re-exports it, so moving it between them changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

use syn::{Item, ItemMod, Visibility};

use crate::attributes::{gates, is_for_tests, of, path};
use crate::{items, macros};

/// Types and functions by area, with what belongs to each.
#[derive(Default)]
pub(crate) struct Areas {
    areas: BTreeMap<String, Area>,
}

/// What one public module offers, by name.
#[derive(Default)]
pub(crate) struct Area {
    entries: BTreeMap<String, Entry>,
}

#[derive(Default)]
pub(crate) struct Entry {
    /// The line itself; none for what is private, or another area's.
    pub(crate) line: Option<String>,
    /// Whether a type of this area has the name, and is not public.
    pub(crate) is_private: bool,
    pub(crate) members: BTreeSet<String>,
}

impl Areas {
    pub(crate) fn of_crate(root: &Path) -> Self {
        let mut areas = Self::default();
        areas.read_file(root, "", root.parent().unwrap());
        areas
    }

    fn read_file(&mut self, file: &Path, area: &str, children: &Path) {
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.read(&parsed.items, area, children);
    }

    /// `children` is the folder in which the files of modules stand.
    pub(crate) fn read(&mut self, items: &[Item], area: &str, children: &Path) {
        for item in items.iter().filter(|item| !is_for_tests(of(item))) {
            match item {
                Item::Mod(module) => self.read_module(module, area, children),
                Item::Macro(_) => macros::read(item, self.area(area)),
                _ => items::read(item, self.area(area)),
            }
        }
    }

    fn read_module(&mut self, module: &ItemMod, area: &str, children: &Path) {
        let name = module.ident.to_string();
        let below = if matches!(module.vis, Visibility::Public(_)) {
            self.area(area).entry(&name).line = Some(format!("mod {name}{}", gates(&module.attrs)));
            format!("{area}::{name}")
        } else {
            area.to_owned()
        };
        if let Some((_, items)) = &module.content {
            return self.read(items, &below, &children.join(&name));
        }
        let (flat, folder) = (children.join(format!("{name}.rs")), children.join(&name));
        match path(&module.attrs) {
            Some(path) => {
                let file = children.join(path);
                self.read_file(&file, &below, file.parent().unwrap());
            }
            None if flat.exists() => self.read_file(&flat, &below, &folder),
            None => self.read_file(&folder.join("mod.rs"), &below, &folder),
        }
    }

    fn area(&mut self, path: &str) -> &mut Area {
        self.areas.entry(path.to_owned()).or_default()
    }
}

impl Area {
    pub(crate) fn entry(&mut self, name: &str) -> &mut Entry {
        self.entries.entry(name.to_owned()).or_default()
    }
}

impl fmt::Display for Areas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let everywhere = self.areas.values().flat_map(|area| &area.entries);
        let public: BTreeSet<_> = everywhere
            .filter(|(_, entry)| entry.line.is_some())
            .map(|(name, _)| name)
            .collect();
        let mut gap = "";
        for (path, area) in &self.areas {
            write!(f, "{gap}# envd_sdk{path}\n\n")?;
            gap = "\n";
            for (name, entry) in &area.entries {
                match &entry.line {
                    Some(line) => writeln!(f, "{line}")?,
                    // Methods that one room gives to another's type.
                    None if public.contains(name) && !entry.is_private => {
                        writeln!(f, "for {name}")?;
                    }
                    None => continue,
                }
                for member in &entry.members {
                    writeln!(f, "    {member}")?;
                }
            }
        }
        Ok(())
    }
}
