/** A package of a file-based catalog: what can be installed, and from where to where (ocp 2.6). */
export interface CatalogPackage {
  name: string
  defaultChannel?: string
  channels: readonly CatalogChannel[]
}

export interface CatalogChannel {
  name: string
  entries: readonly CatalogEntry[]
}

/** An edge-bearing entry of a channel. */
export interface CatalogEntry {
  /** Of the CSV. */
  name: string
  /** As its bundle says, else as its name does; undefined where neither does. */
  version?: string
  replaces?: string
  skips: readonly string[]
  /** `>=4.17.0 <4.18.3`. */
  skipRange?: string
}
