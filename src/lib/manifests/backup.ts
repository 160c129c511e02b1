import { asYaml } from './as-yaml.ts'
import type { ObjectChange } from './changes.ts'
import { nameOf } from './name-of.ts'
import { withoutServerFields } from './server-fields.ts'

/** Where the backup goes and what it was made before: for its first lines. */
export interface BackupOrigin {
  file: string
  from: string
  to: string
  /** Of the KubeVirt CR: two clusters have the same names and versions. */
  uid: string
}

/** The objects that an apply replaces, as they are now: multi-document YAML, itself the way back. */
export function backupOf(changes: readonly ObjectChange[], origin: BackupOrigin): string {
  const replaced = changes.flatMap(({ is, live }) =>
    is === 'changed' && live ? [withoutServerFields(live)] : [],
  )
  const created = changes.filter(({ is }) => is === 'created').map(({ wanted }) => nameOf(wanted))
  const head = [
    `# The objects of the KubeVirt operator before the update from ${origin.from} to ${origin.to}, saved by kvup.`,
    markOf(origin),
    '# To put them back:',
    `#   kubectl apply --server-side --force-conflicts --field-manager=kvup -f ${quoted(origin.file)}`,
    ...created.map((name) => `# ${name} was not there before.`),
  ]
  return `${head.join('\n')}\n${asYaml(replaced)}${end}\n`
}

/** That text is such a backup, of this KubeVirt at this version, and whole. */
export function isBackupOf(text: string, origin: BackupOrigin): boolean {
  return text.includes(`\n${markOf(origin)}\n`) && text.trimEnd().endsWith(end)
}

const markOf = ({ uid, from }: BackupOrigin) => `# KubeVirt ${uid} at ${from}`
const end = '# The end.'

const quoted = (file: string) => (/^[\w./@:+-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`)
