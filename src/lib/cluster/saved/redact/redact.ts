import type { KubeObject, Metadata } from '../../object.ts'
import { poolAnnotation } from '../pool-annotation.ts'
import { anonymous } from '../without-secrets.ts'
import { isMachine, privateNames } from './private-names.ts'
import { registryStandIns } from './registries.ts'
import { numbered, type StandIns, standIns } from './stand-ins.ts'
import { type Words, wordsOf } from './words.ts'

/** Rules of a cluster, which name verbs, kinds and components and nothing private. */
const impersonal = new Set([
  'CustomResourceDefinition',
  'APIService',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
])

/**
 * The same objects with stand-ins for the names of namespaces, nodes, VMs, users and registries: the same name is the same stand-in
 * everywhere, so that the same is judged. `home`, KubeVirt's namespace, and those of the platform stay.
 */
export function redacted<T extends KubeObject>(
  objects: readonly KubeObject[],
  { home, users, index }: { home: string | undefined; users: readonly string[]; index: T },
): { objects: KubeObject[]; index: T } {
  const names = privateNames(objects, home)
  const places = standIns(names)
  const words = wordsOf(places, {
    known: names.known,
    registries: registryStandIns(objects),
    users: numbered(new Set(users), 'user'),
  })
  const ours = objects.filter((object) => !isForeignWebhook(object, home))
  return {
    objects: ours.map((object) => redactedObject(nameless(object), places, words)),
    index: { ...(words.within(index) as T), objects: ours.length },
  }
}

/** Of people's own objects no note stays that is not judged; of KubeVirt's and the cluster's all. */
function nameless(object: KubeObject): KubeObject {
  if (impersonal.has(object.kind)) return object
  const isPeoples = isMachine(object) || object.kind === 'Pod'
  const { metadata, ...rest } = object
  const isNote = (key: string) => !isPeoples || judgedKeys.test(key) || poolAnnotation.test(key)
  return {
    ...(anonymous(rest, isNote) as typeof rest),
    metadata: anonymous(metadata, () => true) as Metadata,
  }
}

function redactedObject(object: KubeObject, places: StandIns, words: Words): KubeObject {
  const { metadata, ...rest } = object
  if (impersonal.has(object.kind))
    return { ...object, metadata: { ...metadata, ...annotationsOf(metadata, words) } }
  return {
    ...(words.within(rest) as typeof rest),
    metadata: redactedMetadata(object, metadata, { places, words }),
  }
}

/** virt-operator's stamps name the registry. */
function annotationsOf({ annotations }: Metadata, words: Words): Pick<Metadata, 'annotations'> {
  return annotations ? { annotations: words.within(annotations) as Record<string, string> } : {}
}

const judgedKeys = /(^|[./])(kubevirt|kubernetes|k8s|kvup|x-k8s)\.io(\/|$)|^(app\.kubernetes\.io|name$)/

function redactedMetadata(
  object: KubeObject,
  { name, namespace, labels, annotations, ...rest }: Metadata,
  { places, words }: { places: StandIns; words: Words },
): Metadata {
  const placed = namespace !== undefined && places.namespaces.get(namespace)
  const isPrivate = Boolean(placed) || isMachine(object) || object.kind === 'Node'
  const texts = (all: Record<string, string>): Record<string, string> => {
    const kept = Object.entries(all).filter(
      ([key]) => !isPrivate || judgedKeys.test(key) || poolAnnotation.test(key),
    )
    return words.within(Object.fromEntries(kept)) as Record<string, string>
  }
  return {
    ...(words.within(rest) as typeof rest),
    name: isPrivate || object.kind === 'Namespace' ? nameOf(object, places) : name,
    ...(namespace !== undefined && { namespace: placed || namespace }),
    ...(labels && { labels: texts(labels) }),
    ...(annotations && { annotations: texts(annotations) }),
  }
}

function nameOf(object: KubeObject, { nodes, machines, others, namespaces }: StandIns): string {
  const { name } = object.metadata
  if (object.kind === 'Node') return nodes.get(name) ?? name
  if (object.kind === 'Namespace') return namespaces.get(name) ?? name
  return (isMachine(object) ? undefined : others.get(name)) ?? machines.get(name) ?? name
}

/** Webhooks of other programs name services of other people. */
function isForeignWebhook(object: KubeObject, home: string | undefined): boolean {
  const { webhooks } = object as { webhooks?: { clientConfig?: { service?: { namespace?: string } } }[] }
  if (!object.kind.endsWith('WebhookConfiguration')) return false
  return !webhooks?.some(({ clientConfig }) => clientConfig?.service?.namespace === home)
}
