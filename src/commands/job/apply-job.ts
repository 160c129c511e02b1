import { isOwnObject, jobKinds, type JobPlace } from '../../lib/job/job-objects.ts'
import { unpackFile } from '../../lib/job/packed-files.ts'
import type { Cluster } from '../../lib/kube/cluster.ts'
import { blocked, KvupError } from '../../lib/kube/errors.ts'
import { type ConfigMap, ConfigMaps, Namespaces } from '../../lib/kube/kinds/core-kinds.ts'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { withPurpose } from '../../lib/kube/shell-line.ts'

/** The kind of an object of a Job. */
export function kindOf({ kind, apiVersion }: KubeObject): Kind {
  const found = jobKinds.find((one) => one.kind === kind && one.apiVersion === apiVersion)
  if (found === undefined) throw new Error(`${kind} is no kind of a Job`)
  return found
}

/** Applies what `jobObjects` made, in its order. What was applied before it failed is told with the line that removes it. */
export async function applyEach(
  cluster: Cluster,
  items: readonly KubeObject[],
  { removes, signal }: { removes: string; signal: AbortSignal },
): Promise<void> {
  for (const [index, item] of items.entries()) {
    signal.throwIfAborted()
    try {
      await applyOne(cluster, item)
    } catch (error) {
      if (index === 0 || !(error instanceof KvupError)) throw error
      throw new KvupError(error.exitCode, error.reason, error.message, {
        object: error.object,
        notes: [
          ...error.notes,
          `${index} of ${items.length} objects were applied before it; the Job is not one of them`,
        ],
        remedy: [...error.remedy, withPurpose(removes, 'removes what was applied')],
        cause: error,
      })
    }
  }
}

async function applyOne({ reader, writer }: Cluster, item: KubeObject): Promise<void> {
  // What never changes is either the same, or not ours.
  if (item.kind === ConfigMaps.kind && (await isSameFile(reader, item))) return
  await writer.apply(kindOf(item), item)
}

/** gzip of another release may be other bytes of the same file. */
async function isSameFile(reader: Cluster['reader'], { metadata, ...item }: KubeObject): Promise<boolean> {
  const [sha256 = ''] = Object.keys((item as ConfigMap).binaryData ?? {})
  const found = await reader.get(ConfigMaps, metadata)
  if (found.is !== 'object') return false
  unpackFile(Buffer.from(found.object.binaryData?.[sha256] ?? '', 'base64'), { path: metadata.name, sha256 })
  return true
}

/** Whether it is there. Throws `blocked` where somebody else made it. */
export async function ensureOwnNamespace(reader: Cluster['reader'], namespace: string): Promise<boolean> {
  const home = await reader.get(Namespaces, { name: namespace })
  if (home.is !== 'object') return false
  if (isOwnObject(home.object)) return true
  throw blocked(
    'namespace-not-own',
    `namespace ${namespace} was not made by kvup: whoever can make pods there could use the rights of the Job`,
    {
      object: `namespaces/${namespace}`,
      remedy: 'name another one with --job-namespace, which kvup makes',
    },
  )
}

/** Another line has that name already: the lines that show and remove it. */
export function jobExists(
  kind: Kind,
  { name, namespace }: JobPlace,
  lines: { status: string; delete: string },
): KvupError {
  return blocked(
    'job-exists',
    `there is a ${kind.kind} ${name} in namespace ${namespace}, and it runs another line`,
    {
      object: `${kind.plural}/${name} in namespace ${namespace}`,
      remedy: [
        withPurpose(lines.status, 'shows how far it is'),
        withPurpose(lines.delete, 'removes it, with its rights'),
      ],
    },
  )
}
