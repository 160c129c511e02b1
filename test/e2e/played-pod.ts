import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Lab } from './lab.ts'

const program = path.resolve(import.meta.dirname, '../../bin/kvup.js')
const folderOfToken = '/run/secrets/kubernetes.io/serviceaccount'

interface EnvVar {
  name: string
  value?: string
  valueFrom?: { fieldRef?: { fieldPath: string } }
}

interface Container {
  name: string
  args?: string[]
  env?: EnvVar[]
}

export interface JobPod {
  metadata: { name: string; namespace: string; uid: string; deletionTimestamp?: string }
  spec: { serviceAccountName: string; initContainers?: Container[]; containers: Container[] }
  status: { phase: string }
}

/** The pod of the Job that the cluster wants to run: its scheduler has placed it, and nothing runs in it yet. */
export async function nextPod(lab: Lab, namespace: string, after: readonly string[] = []): Promise<JobPod> {
  for (let tries = 0; tries < 180; tries++) {
    const { items } = await lab.object<{ items: JobPod[] }>('get', '-n', namespace, 'pods')
    const pod = items.find(
      ({ status, metadata }) =>
        status.phase === 'Running' &&
        metadata.deletionTimestamp === undefined &&
        !after.includes(metadata.uid),
    )
    if (pod !== undefined) return pod
    await pause(1000)
  }
  throw new Error('the Job made no pod')
}

export interface PlayedPod {
  /** The exit code, as a kubelet would write it down. */
  readonly ended: Promise<number>
  said(): string
  signal(name: 'SIGTERM' | 'SIGKILL'): void
}

/**
 * What a kubelet does of it: the token of its account bound to the pod, and the cluster's authority, where every pod has them; then its files, then its line, each as a process. Both lie in a
 * file system of the process alone, so that nothing of this machine is changed.
 */
export async function playPod(lab: Lab, pod: JobPod): Promise<PlayedPod> {
  const { name, namespace, uid } = pod.metadata
  const folder = path.join(lab.dir, 'played', uid)
  for (const below of ['work', 'home', 'tmp', 'packed', 'account'])
    await mkdir(path.join(folder, below), { recursive: true })
  const { spec } = pod
  const bound = [`--bound-object-kind=Pod`, `--bound-object-name=${name}`, `--bound-object-uid=${uid}`]
  const token = await lab.kubectl(['create', 'token', spec.serviceAccountName, '-n', namespace, ...bound])
  const { data } = await lab.object<{ data: Record<string, string> }>(
    'get',
    '-n',
    namespace,
    'configmap',
    'kube-root-ca.crt',
  )
  const { server } = await clusterOf(lab)
  const files = { token: token.trim(), 'ca.crt': data['ca.crt'] ?? '', namespace }
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(folder, 'account', file), text)
  await mountFiles(lab, namespace, folder)
  const real = (text: string) =>
    text.replace(/^\/(?=work|packed|tmp)/u, `${folder}/`).replace('/home/kvup', `${folder}/home`)
  const envOf = ({ env = [] }: Container) =>
    Object.fromEntries(
      env.map(({ name: variable, value, valueFrom }) => [
        variable,
        real(value ?? valueOf(valueFrom?.fieldRef?.fieldPath, pod)),
      ]),
    )
  const start = (container: Container) =>
    spawn(
      'unshare',
      [
        '--mount',
        'sh',
        '-c',
        mounting,
        path.join(folder, 'account'),
        process.execPath,
        program,
        ...(container.args ?? []).map(real),
      ],
      {
        cwd: path.join(folder, 'work'),
        env: {
          PATH: process.env['PATH'],
          KUBERNETES_SERVICE_HOST: server.hostname,
          KUBERNETES_SERVICE_PORT: server.port,
          ...envOf(container),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
  for (const container of spec.initContainers ?? []) {
    const { code, text } = await endOf(start(container))
    if (code !== 0) throw new Error(`${container.name} ended with ${code}: ${text}`)
  }
  const [line] = spec.containers
  if (line === undefined) throw new Error('the pod has no container')
  const child = start(line)
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  return {
    ended: endOf(child).then(({ code }) => code),
    said: () => said,
    signal: (signal) => void child.kill(signal),
  }
}

const mounting = `mount -t tmpfs none /run && mkdir -p ${folderOfToken} && cp "$0"/* ${folderOfToken}/ && exec "$@"`

function valueOf(field: string | undefined, { metadata }: JobPod): string {
  if (field === 'metadata.name') return metadata.name
  if (field === 'metadata.namespace') return metadata.namespace
  return field === 'metadata.uid' ? metadata.uid : ''
}

/** As the kubelet projects them: each under its sha256. */
async function mountFiles(lab: Lab, namespace: string, folder: string): Promise<void> {
  const { items } = await lab.object<{ items: { binaryData?: Record<string, string> }[] }>(
    'get',
    '-n',
    namespace,
    'configmaps',
  )
  for (const { binaryData = {} } of items)
    for (const [name, gzip] of Object.entries(binaryData))
      await writeFile(path.join(folder, 'packed', name), Buffer.from(gzip, 'base64'))
}

async function clusterOf({ kubeconfig }: Lab): Promise<{ server: URL }> {
  const config = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
    clusters: { cluster: { server: string } }[]
  }
  return { server: new URL(config.clusters[0]?.cluster.server ?? '') }
}

const numbers: Partial<Record<NodeJS.Signals, number>> = { SIGKILL: 9, SIGTERM: 15 }

function endOf(child: ReturnType<typeof spawn>): Promise<{ code: number; text: string }> {
  let text = ''
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) =>
      resolve({ code: code ?? 128 + (signal ? (numbers[signal] ?? 0) : 0), text }),
    )
  })
}

/** Its kubelet, or of a node that died the control plane, writes down how it ended: from here on the Job controller decides. */
export async function reportEnd(
  lab: Lab,
  { metadata, spec }: JobPod,
  code: number,
  isDisrupted = false,
): Promise<void> {
  const finishedAt = new Date().toISOString()
  const state = { terminated: { exitCode: code, reason: code === 0 ? 'Completed' : 'Error', finishedAt } }
  const status = {
    phase: code === 0 ? 'Succeeded' : 'Failed',
    ...(isDisrupted && {
      conditions: [
        {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'DeletionByTaintManager',
          message: 'Taint manager: deleting due to NoExecute taint',
          lastTransitionTime: finishedAt,
        },
      ],
    }),
    containerStatuses: spec.containers.map(({ name }) => ({
      name,
      image: 'kvup',
      imageID: 'kvup',
      ready: false,
      restartCount: 0,
      state,
    })),
  }
  await lab.kubectl([
    'patch',
    '-n',
    metadata.namespace,
    'pod',
    metadata.name,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  ])
}
