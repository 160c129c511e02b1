import { parseAllDocuments } from 'yaml'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { type ConfigMap, ConfigMaps, Namespaces } from '../../src/lib/kube/kinds/core-kinds.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  RoleBindings,
  Roles,
  ServiceAccounts,
} from '../../src/lib/kube/kinds/extension-kinds.ts'
import { type Job, Jobs, type Pod, Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { parsePackedWord, unpackFile } from '../../src/lib/job/packed-files.ts'
import { type AuditRecord, isWrite } from '../../src/simulator/api/api-request.ts'
import type { Place } from '../lib/run-text.ts'
import { runText } from '../lib/run-text.ts'
import { type Stage, second } from './stage.ts'

export const image =
  'registry.example.com/kvup@sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'
export const place = { name: 'kvup-upgrade-0a1b2c3d', namespace: 'kvup-run-0a1b2c3d' }
const account = `system:serviceaccount:${place.namespace}:${place.name}`

/** A line of an admin, in front of the simulated cluster. */
export function typed(stage: Stage, words: readonly string[], more: Partial<Place> = {}) {
  return runText(words, {
    cluster: stage.cluster,
    clock: stage.clock,
    files: Object.fromEntries(stage.files),
    onWrite: (file, text) => stage.files.set(file, text),
    ...more,
  })
}

/** Kinds of a Job, as `kubectl` knows them. */
export const kinds: readonly Kind[] = [
  Namespaces,
  ServiceAccounts,
  ClusterRoles,
  ClusterRoleBindings,
  Roles,
  RoleBindings,
  ConfigMaps,
  Jobs,
]
export const kindOf = ({ kind, apiVersion }: KubeObject): Kind => {
  const found = kinds.find((one) => one.kind === kind && one.apiVersion === apiVersion)
  if (found === undefined) throw new Error(`${kind} is no kind of a Job`)
  return found
}
export const objectsIn = (printed: string): KubeObject[] =>
  parseAllDocuments(printed).map((document) => document.toJS() as KubeObject)

/** `kubectl create -f -`: each of them, and none that is there. */
export async function create({ cluster }: Stage, printed: string): Promise<void> {
  for (const object of objectsIn(printed)) await cluster.writer.create(kindOf(object), object)
}

/** What `kubectl delete` does with the last line of what was printed. */
export async function deleteByLastLine(stage: Stage, printed: string): Promise<void> {
  const { cluster } = stage
  const line = printed.trimEnd().split('\n').at(-1)
  const { plurals = '', labels = '' } =
    /^# kubectl delete (?<plurals>\S+) -A -l (?<labels>\S+)$/u.exec(line ?? '')?.groups ?? {}
  for (const plural of plurals.split(',')) {
    const kind = kinds.find((one) => one.plural === plural)
    if (kind === undefined) throw new Error(`${plural}: ${line}`)
    for (const { metadata } of await cluster.reader.list<KubeObject>(kind, { labels }))
      await cluster.writer.delete(kind, metadata)
  }
  // What is in a namespace goes with it.
  await stage.until(5 * second)
}

/** Makes a sealed plan and lets the cluster carry it out. */
export async function created(stage: Stage, to: string) {
  await typed(stage, ['plan', '--to', to, '--to-file', 'plan.yaml', '--stable-for', '5s'])
  const printed = await typed(stage, [
    'job',
    '--image',
    image,
    '--',
    'upgrade',
    '--plan',
    'plan.yaml',
    '--yes',
  ])
  await create(stage, printed.out)
  return printed
}

export function jobOf({ simulated }: Stage): Job {
  const job = simulated.store.read(Jobs, place)
  if (job === undefined) throw new Error('there is no Job')
  return job
}

/** The pods of the Job, the oldest first. */
export function podsOf({ simulated }: Stage): Pod[] {
  const { uid } = jobOf({ simulated } as Stage).metadata
  return [...(simulated.store.list(Pods, { namespace: place.namespace }).items as readonly Pod[])]
    .filter(({ metadata }) => (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid))
    .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
}

/** Waits for the one pod of it that has not ended. */
export async function nextPod(stage: Stage): Promise<Pod> {
  for (let tries = 0; tries < 600; tries++) {
    const pod = podsOf(stage).find(({ status }) => status?.phase === 'Running')
    if (pod !== undefined) return pod
    await stage.until(second)
  }
  throw new Error('no pod runs')
}

/** What the kubelet does of a pod: its files, verified, and then its line, as its own account. */
export async function runPod(
  stage: Stage,
  pod: Pod,
  alive: (cluster: Cluster) => Cluster = (cluster) => cluster,
) {
  const { initContainers = [], containers = [] } = pod.spec ?? {}
  const words = (initContainers[0]?.args ?? []).slice(5).map(parsePackedWord)
  const maps = stage.simulated.store.list(ConfigMaps, { namespace: place.namespace })
    .items as readonly ConfigMap[]
  const files = Object.fromEntries(
    words.map((file) => {
      const packed = maps.find(({ binaryData }) => binaryData?.[file.sha256] !== undefined)
      return [
        file.path,
        unpackFile(Buffer.from(packed?.binaryData?.[file.sha256] ?? '', 'base64'), file).toString(),
      ]
    }),
  )
  const { name, namespace = '', uid = '' } = pod.metadata
  const cluster = stage.simulated.cluster({
    user: account,
    groups: ['system:serviceaccounts', 'system:authenticated'],
  })
  return runText(containers[0]?.args ?? [], {
    cluster: alive(cluster),
    clock: stage.clock,
    files,
    pod: { name, namespace, uid },
  })
}

/** The pod has ended with this code: what its kubelet writes down. */
export async function end(stage: Stage, pod: Pod, code: number): Promise<void> {
  const finishedAt = stage.clock.now().toISOString()
  const state = { terminated: { exitCode: code, reason: code === 0 ? 'Completed' : 'Error', finishedAt } }
  const status = {
    phase: code === 0 ? 'Succeeded' : 'Failed',
    containerStatuses: [{ name: 'kvup', ready: false, state }],
  }
  await stage.cluster.writer.mergePatch(Pods, pod.metadata, { status }, 'status')
}

/** What the Job's account asked of the API server, from its beginning. */
export const asked = ({ simulated }: Stage): readonly AuditRecord[] =>
  simulated.store.audit.filter(({ user }) => user === account)

export const written = (stage: Stage): readonly AuditRecord[] => asked(stage).filter(isWrite)
