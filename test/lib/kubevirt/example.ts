import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Reader, ServerVersion } from '../../../src/lib/kube/cluster.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import { seed, Store } from '../../../src/simulator/api/store.ts'
import { NetworkAttachmentDefinitions } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import { builtInKinds } from '../../../src/simulator/api/kinds/built-in-kinds.ts'
import { custom, type SimKind } from '../../../src/simulator/api/kinds/sim-kind.ts'
import { olmKinds } from '../../../src/simulator/olm/olm-objects.ts'
import { openShiftKinds } from '../../../src/simulator/openshift/openshift-objects.ts'
import type { Clock } from '../../../src/lib/kube/clock.ts'

const folder = new URL('../../examples/', import.meta.url)

/** A whole cluster from a file, and when it was looked at. */
export interface Example {
  reader: Reader
  store: Store
  clock: Clock
}

export const exampleNames: readonly string[] = readdirSync(folder)
  .filter((name) => existsSync(new URL(`${name}/cluster.json`, folder)))
  .toSorted()

/** Loads test/examples/NAME/cluster.json. */
export function example(name: string): Example {
  const { objects, at } = savedExample(name)
  return exampleOf(objects, at)
}

const lookedAt = json('looked-at.json') as Readonly<Record<string, string>>

/** What `kubectl get … -o json` prints of it, an object a line, and when that was (`looked-at.json`). */
export function savedExample(name: string): { objects: KubeObject[]; at: string } {
  const at = lookedAt[name]
  if (at === undefined) throw new Error(`looked-at.json does not say when ${name} was looked at`)
  return { objects: json(`${name}/cluster.json`) as KubeObject[], at }
}

function json(file: string): unknown {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
}

/** The store gives what lacks a time one of long ago, so that only the file's own times count. */
export function exampleOf(objects: readonly KubeObject[], at: string, version?: ServerVersion): Example {
  const kinds = [...builtInKinds, ...kindsOfLayers(objects)]
  const store = new Store(still('2026-01-01T00:00:00Z'), { kinds, ...(version && { version }) })
  // A kind is served from when on its definition is there.
  const ordered = objects.toSorted((a, b) => Number(isDefinition(b)) - Number(isDefinition(a)))
  seed(store, ordered, 'before-first-apply')
  return { store, reader: storeCluster(store).reader, clock: still(at) }
}

const isDefinition = ({ kind }: KubeObject): boolean => kind === 'CustomResourceDefinition'

const ofLayer = /^(?:config\.openshift\.io|operators\.coreos\.com)\//u

/** What a platform and OLM serve, where the objects are of such a cluster. */
function kindsOfLayers(objects: readonly KubeObject[]): SimKind[] {
  if (!objects.some(({ apiVersion }) => ofLayer.test(apiVersion))) return []
  const networks = custom(NetworkAttachmentDefinitions, { status: false })
  return [...openShiftKinds({ version: '4.10.0' }), ...olmKinds(), networks]
}

/** Expected text beside the example; with UPDATE=1 it is written anew. */
export function expected(name: string, file: string, actual: string): string {
  const url = new URL(`${name}/${file}`, folder)
  if (process.env['UPDATE'] === '1' || !existsSync(url)) {
    if (process.env['CI']) throw new Error(`${name}/${file} is missing`)
    writeFileSync(url, actual)
  }
  return readFileSync(url, 'utf8')
}

function still(time: string): Clock {
  return { now: () => new Date(time), sleep: async () => undefined }
}
