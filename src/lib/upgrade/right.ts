/** One right and what it is for. Roles and preflight are both made from these, so they cannot differ. */
export interface Right {
  /** `kubevirt`: only in KubeVirt's own namespace. */
  scope: 'cluster' | 'kubevirt'
  group: string
  resources: readonly string[]
  verbs: readonly string[]
  why: string
  /** Only these objects; `$namespace` stands for KubeVirt's namespace. */
  names: readonly string[]
  /** Without it kvup says less or cannot do an extra, but does its work. */
  optional: boolean
  /** Only checks and snapshots read it: an upgrade does not ask for it, and says nothing where it is missing. */
  onlyChecks: boolean
  /** Only `kvup check --probe-images` uses it: nobody else asks for it. */
  onlyProbes: boolean
  /** Only what is shown of a platform above KubeVirt is read by it: nobody is told where it is missing but who looks there. */
  onlyStatus: boolean
}

/** One line of the tables; words are separated by blanks. */
export type Row = readonly [
  scope: Right['scope'],
  group: string,
  resources: string,
  verbs: string,
  why: string,
  limits?: { names?: string; optional?: true; onlyChecks?: true; onlyProbes?: true; onlyStatus?: true },
]
