import { execFile, spawn } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { type AuditFilter, type AuditWrite, readWrites } from './audit-log.ts'

const run = promisify(execFile)
const programs = path.join(import.meta.dirname, 'lab')
const cache = process.env['KVUP_LAB_CACHE'] ?? path.join(homedir(), '.cache/kvup-lab')
const registry = 'quay.io/kubevirt'

/** The releases that the lab builds. */
export type Release = 'v1.3.0' | 'v1.4.0' | 'v1.5.2' | 'v1.6.0' | 'v1.7.0' | 'v1.8.4'

/** The release's kubevirt-operator.yaml, as its release job makes it. */
export const operatorManifest = (release: Release): string =>
  path.join(cache, 'manifests', release, 'kubevirt-operator.yaml')

export const kubectlProgram = path.join(cache, 'bin/kubectl')

export interface LabOptions {
  /** Names the folder that the logs are in. */
  name: string
  workers?: number
  /** KubeVirt with the operator of this release; without it, a bare cluster. */
  operator?: Release
  imageTag?: Release
  methods?: readonly string[]
  /** Only an API server: no nodes, and nothing that makes or runs pods. */
  bare?: boolean
  /** Sets of `lab/install-crds`: `olm`, `openshift`, or files. */
  crds?: readonly string[]
}

export interface Lab {
  readonly dir: string
  /** Of a cluster admin. */
  readonly kubeconfig: string
  /** What kubectl printed on stdout. Rejects with its stderr when it fails. */
  kubectl(args: readonly string[], input?: string): Promise<string>
  /** One object or list, as kubectl prints it with `-o json`. */
  object<T>(...args: string[]): Promise<T>
  /** What was written to the cluster since the last `mark`, or ever; dry runs and access reviews left out. */
  auditWrites(filter: AuditFilter): Promise<AuditWrite[]>
  /** A kubeconfig with a token of a new ServiceAccount, which has the rights of this RBAC manifest and no other. */
  serviceAccountKubeconfig(name: string, manifest: string): Promise<string>
  /** From now on only these tags of KubeVirt's images can be pulled. */
  pullable(...tags: readonly Release[]): Promise<void>
  stop(): Promise<void>
}

/** Starts a cluster on loopback and, where asked, installs KubeVirt until it is Available. */
export async function startLab({
  name,
  workers = 3,
  bare = false,
  crds = [],
  ...kubevirt
}: LabOptions): Promise<Lab> {
  const dir = await mkdtemp(path.join(process.env['KVUP_LAB_ROOT'] ?? tmpdir(), `${name}-`))
  await mkdir(path.join(dir, 'kvup'))
  const lab = labIn(dir)
  try {
    await logged(dir, 'up', [dir, String(workers)], bare ? withoutMachines : {})
    if (crds.length > 0) await logged(dir, 'install-crds', [dir, ...crds])
    if (kubevirt.operator !== undefined)
      await logged(dir, 'install-kubevirt', [dir, kubevirt.operator, JSON.stringify(specOf(kubevirt))])
  } catch (error) {
    await lab.stop()
    throw error
  }
  return lab
}

const specOf = ({ imageTag, methods }: Pick<LabOptions, 'imageTag' | 'methods'>) => ({
  spec: {
    ...(imageTag && { imageTag, imageRegistry: registry }),
    ...(methods && { workloadUpdateStrategy: { workloadUpdateMethods: methods } }),
  },
})

/** Pods need no ServiceAccount there: nobody makes them. */
const withoutMachines = {
  LAB_BARE: '1',
  LAB_APISERVER_FLAGS: '--disable-admission-plugins=ServiceAccount',
}

async function logged(
  dir: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const file = path.join(dir, `${program}.txt`)
  try {
    const { stdout, stderr } = await run(path.join(programs, program), args, {
      env: { ...process.env, ...env },
    })
    await appendFile(file, stdout + stderr)
  } catch (error) {
    throw new Error(`the lab's ${program} failed; logs in ${dir}`, { cause: error })
  }
}

function labIn(dir: string): Lab {
  const kubeconfig = path.join(dir, 'kubeconfig')
  const kubectl = (args: readonly string[], input = '') => kubectlWith(kubeconfig, args, input)
  const object = async <T>(...args: string[]) => JSON.parse(await kubectl([...args, '-o', 'json'])) as T
  return {
    dir,
    kubeconfig,
    kubectl,
    object,
    auditWrites: (filter) => readWrites(path.join(dir, 'log/audit.log'), filter),
    serviceAccountKubeconfig: (name, manifest) => accountIn({ dir, kubeconfig, kubectl }, name, manifest),
    pullable: (...tags) => logged(dir, 'pullable', [dir, ...tags]),
    stop: async () => {
      await run(path.join(programs, 'down'), [dir])
    },
  }
}

/** Runs the lab's own kubectl. */
function kubectlWith(kubeconfig: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(kubectlProgram, ['--kubeconfig', kubeconfig, ...args])
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(stdout)
      else reject(new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`))
    })
    child.stdin.end(input)
  })
}

interface AccountKubeconfig {
  users: { name: string; user: unknown }[]
}

async function accountIn(
  { dir, kubeconfig, kubectl }: Pick<Lab, 'dir' | 'kubeconfig' | 'kubectl'>,
  name: string,
  manifest: string,
): Promise<string> {
  await kubectl(['create', 'serviceaccount', name, '-n', 'default'])
  await kubectl(['apply', '-f', '-'], manifest)
  const token = (await kubectl(['create', 'token', name, '-n', 'default', '--duration=2h'])).trim()
  const admin = JSON.parse(await readFile(kubeconfig, 'utf8')) as AccountKubeconfig
  const file = path.join(dir, `${name}.kubeconfig`)
  const users = admin.users.map((user) => ({ name: user.name, user: { token } }))
  await writeFile(file, JSON.stringify({ ...admin, users }), { mode: 0o600 })
  return file
}
