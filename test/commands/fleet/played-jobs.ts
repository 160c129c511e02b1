import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parsePackedWord, unpackFile } from '../../../src/lib/job/packed-files.ts'
import { type ConfigMap, ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { type Job, Jobs, type Pod, Pods } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { isWrite } from '../../../src/simulator/api/api-request.ts'
import { type Live, startKvup } from '../built/program.ts'
import type { FleetStage } from './fleet-stage.ts'

export const image =
  'registry.example.com/kvup@sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'
export const account = 'system:serviceaccount:kvup-run:kvup-fleet'
const namespace = 'kvup-run'

/** The kubelets of a fleet: what runs in the pods of its Jobs, as processes of the built program with the account of the Job. */
export interface Kubelets {
  /** Each pod that was started. */
  readonly started: readonly { cluster: string; pod: string; live: Live }[]
  stop(): Promise<void>
}

/** Plays each pod of a Job once, as soon as it runs; `ends`: a cluster whose pods end with this code at once. */
export function playJobs(
  stage: FleetStage,
  { ends = {} }: { ends?: Readonly<Record<string, number>> } = {},
): Kubelets {
  const started: { cluster: string; pod: string; live: Live }[] = []
  const seen = new Set<string>()
  const stopped = new AbortController()
  const playing = (async () => {
    while (!stopped.signal.aborted) {
      for (const { name } of stage.clusters)
        for (const pod of runningPods(stage, name)) {
          // Simulated clusters give their objects the same uids.
          const key = `${name} ${pod.metadata.uid}`
          if (seen.has(key)) continue
          seen.add(key)
          const code = ends[name]
          if (code === undefined) {
            const live = startPod(stage, name, pod)
            started.push({ cluster: name, pod: pod.metadata.name, live })
            void live.ended.then(({ code: ended }) => endPod(stage, name, pod, ended ?? 137))
          } else await endPod(stage, name, pod, code)
        }
      await pause(50)
    }
  })()
  return {
    started,
    async stop() {
      stopped.abort()
      await playing
      for (const { live } of started) live.kill('SIGKILL')
      await Promise.all(started.map(({ live }) => live.ended))
    },
  }
}

export const jobOf = (stage: FleetStage, name: string): Job | undefined =>
  stage.cluster(name).cluster.store.read(Jobs, { name: 'kvup-fleet', namespace })

function runningPods(stage: FleetStage, name: string): readonly Pod[] {
  const uid = jobOf(stage, name)?.metadata.uid
  const pods = stage.cluster(name).cluster.store.list(Pods, { namespace }).items as readonly Pod[]
  return pods.filter(
    ({ metadata, status }) =>
      status?.phase === 'Running' && (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid),
  )
}

function startPod(stage: FleetStage, name: string, pod: Pod): Live {
  const { initContainers = [], containers = [] } = pod.spec ?? {}
  const cwd = join(stage.folder, `${name}-${pod.metadata.name}`)
  mkdirSync(cwd)
  const maps = stage.cluster(name).cluster.store.list(ConfigMaps, { namespace }).items as readonly ConfigMap[]
  for (const file of (initContainers[0]?.args ?? []).slice(5).map(parsePackedWord)) {
    const packed = maps.find(({ binaryData }) => binaryData?.[file.sha256] !== undefined)
    const bytes = Buffer.from(packed?.binaryData?.[file.sha256] ?? '', 'base64')
    writeFileSync(join(cwd, file.path), unpackFile(bytes, file))
  }
  const connection = ['--context', name, '--as', account]
  const groups = ['system:serviceaccounts', 'system:authenticated'].flatMap((one) => ['--as-group', one])
  return startKvup([...(containers[0]?.args ?? []), ...connection, ...groups], {
    kubeconfig: join(stage.folder, 'kubeconfig'),
    cwd,
    env: {
      HOME: cwd,
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      POD_NAME: pod.metadata.name,
      POD_NAMESPACE: namespace,
      POD_UID: pod.metadata.uid ?? '',
    },
  })
}

/** What the kubelet writes down, and the Job controller by the failure policy of the Job. */
async function endPod(stage: FleetStage, name: string, pod: Pod, code: number): Promise<void> {
  const { cluster } = stage.cluster(name)
  const { writer } = cluster.cluster()
  const finishedAt = new Date().toISOString()
  const terminated = { exitCode: code, reason: code === 0 ? 'Completed' : 'Error', finishedAt }
  const status = {
    phase: code === 0 ? 'Succeeded' : 'Failed',
    containerStatuses: [{ name: 'kvup', ready: false, state: { terminated } }],
  }
  await writer.mergePatch(Pods, pod.metadata, { status }, 'status').catch(() => undefined)
  if ([0, 4, 8, 130, 143].includes(code)) return
  const failed = { type: 'Failed', status: 'True', reason: 'PodFailurePolicy', message: `exit code ${code}` }
  await writer
    .mergePatch(
      Jobs,
      { name: 'kvup-fleet', namespace },
      { status: { conditions: [failed] } } as never,
      'status',
    )
    .catch(() => undefined)
}

/** What the account of the Job wrote. */
export const writesOfJob = (stage: FleetStage, name: string): number =>
  stage.cluster(name).cluster.store.audit.filter((record) => record.user === account && isWrite(record))
    .length
