import { asYaml } from './as-yaml.ts'
import type { ObjectChange } from './changes.ts'
import { nameOf } from './name-of.ts'
import { withoutServerFields } from './server-fields.ts'

/** Where the backup goes and what it was made before: for its first lines. */
export interface BackupOrigin {
  file: string
  from: string
  to: string
}

/** The objects that an apply replaces, as they are now: multi-document YAML, itself the way back. */
export function backupOf(changes: readonly ObjectChange[], { file, from, to }: BackupOrigin): string {
  const replaced = changes.flatMap(({ is, live }) =>
    is === 'changed' && live ? [withoutServerFields(live)] : [],
  )
  const created = changes.filter(({ is }) => is === 'created').map(({ wanted }) => nameOf(wanted))
  const head = [
    `# The objects of the KubeVirt operator before the update from ${from} to ${to}, saved by kvup.`,
    '# To put them back:',
    `#   kubectl apply --server-side --force-conflicts --field-manager=kvup -f ${quoted(file)}`,
    ...created.map((name) => `# ${name} was not there before.`),
  ]
  return `${head.join('\n')}\n${asYaml(replaced)}`
}

const quoted = (file: string) => (/^[\w./@:+-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`)
