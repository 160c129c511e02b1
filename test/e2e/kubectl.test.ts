import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { forReplay, recordingProxy, type SentRequest } from './kubectl.ts'
import { kubectlProgram } from './lab.ts'

const run = promisify(execFile)
const here = import.meta.dirname
const bin = path.resolve(here, '../../bin/kvup.js')
/** The oldest that has to work on a served cluster, and the newest there is. `KVUP_RECORD_KUBECTL=1` writes down what they ask. */
const minors = ['v1.32', 'v1.37'] as const
const record = process.env['KVUP_RECORD_KUBECTL'] !== undefined
const recorded = path.resolve(here, '../lib/simulator/api/kubectl-requests.ndjson')
const wrote: Record<string, readonly SentRequest[]> = {}

let folder: string
let demo: ChildProcess
let kubeconfig: string
let stopProxy = () => undefined as void

beforeAll(async () => {
  await run(
    path.join(here, 'lab/build'),
    minors.map((minor) => `kubectl-${minor}`),
    { timeout: 900_000 },
  )
  folder = await mkdtemp(path.join(tmpdir(), 'kvup-kubectl-'))
  demo = spawn(process.execPath, [bin, 'demo', '--serve', '--scenario', 'mixed-workloads'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: folder, HOME: folder },
  })
  const [line] = (await once(demo.stdout!, 'data')) as [Buffer]
  kubeconfig = /KUBECONFIG=(\S+)/u.exec(line.toString())?.[1] ?? ''
})

afterAll(async () => {
  stopProxy()
  const ended = once(demo, 'close')
  demo.kill('SIGINT')
  await ended
  if (record) {
    const lines = Object.entries(wrote).flatMap(([minor, sent]) =>
      forReplay(sent).map((one) => JSON.stringify({ kubectl: minor, ...one })),
    )
    await writeFile(recorded, `${lines.join('\n')}\n`)
  }
  await rm(folder, { recursive: true, force: true })
})

const vm = (namespace: string, guest: string): string => `apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: mine, namespace: ${namespace}}
spec:
  runStrategy: Always
  template:
    spec:
      domain: {devices: {}, memory: {guest: ${guest}}}
`

const deployment = (namespace: string, replicas: number): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${namespace}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: nginx, ports: [{containerPort: 80}]}
`

describe.each(minors)('kubectl %s on a served demo', (minor) => {
  const namespace = `shop-${minor.replace('.', '-')}`
  const program = path.join(path.dirname(kubectlProgram), `kubectl-${minor}`)
  let own: string

  beforeAll(async () => {
    own = kubeconfig
    if (!record) return
    const config = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
      clusters: [{ cluster: { server: string } }]
    }
    const proxy = await recordingProxy(config.clusters[0].cluster.server)
    stopProxy = proxy.stop
    config.clusters[0].cluster.server = proxy.url
    own = path.join(folder, `${minor}.kubeconfig`)
    await writeFile(own, JSON.stringify(config))
    wrote[minor] = proxy.sent
  })

  /** What it printed. Rejects with its stderr when it fails. */
  async function kubectl(line: string, input?: string): Promise<string> {
    const options = { env: { KUBECONFIG: own, HOME: path.join(folder, minor) }, timeout: 60_000 }
    const running = run(program, line.split(' '), options)
    running.child.stdin?.end(input ?? '')
    return (await running).stdout
  }

  test('is of that minor, and finds the server', async () => {
    const { clientVersion, serverVersion } = JSON.parse(await kubectl('version -o json')) as Record<
      string,
      { gitVersion: string }
    >
    expect(clientVersion?.gitVersion).toMatch(new RegExp(`^${minor.replace('.', '\\.')}\\.`, 'u'))
    expect(serverVersion?.gitVersion).toBe('v1.35.4')
  })

  test('get: rows as a real server prints them, wide, by name, by label, as YAML and by path', async () => {
    expect(await kubectl('get kv -n kubevirt')).toMatch(/^NAME +AGE +PHASE\nkubevirt +\d+\w+ +Deployed\n$/u)
    expect(await kubectl('get nodes -o wide')).toMatch(/^NAME +STATUS +ROLES +AGE +VERSION +INTERNAL-IP/u)
    expect(await kubectl('get deploy,ds,pods,pdb,svc,crd,apiservices -A -o wide')).toContain('virt-handler')
    expect(await kubectl('get vmi -n demo -l kubevirt.io/vm=web-1 --no-headers')).toMatch(
      /^web-1 +\S+ +Running/u,
    )
    expect(await kubectl('get vm -n demo web-1 -o yaml')).toContain('runStrategy: Always')
    expect(await kubectl('get vm -n demo web-1 -o jsonpath={.status.printableStatus}')).toBe('Running')
    await expect(kubectl('get vm -n demo nobody')).rejects.toThrow('"nobody" not found')
  })

  test('describe: a node, a pod, a Deployment, a VM and the KubeVirt, with events', async () => {
    expect(await kubectl('describe node worker-1')).toMatch(/Ready +True/u)
    expect(await kubectl('describe pod -n kubevirt -l kubevirt.io=virt-api')).toMatch(/Status: +Running/u)
    expect(await kubectl('describe deploy -n kubevirt virt-api')).toContain('2 desired | 2 updated | 2 total')
    expect(await kubectl('describe vm -n demo web-1')).toMatch(/Printable Status: +Running/u)
    expect(await kubectl('describe kv -n kubevirt kubevirt')).toMatch(/Phase: +Deployed/u)
  })

  test('create: what has a flag for it, also where kubectl sends protobuf, and what lies in a file', async () => {
    await kubectl(`create namespace ${namespace}`)
    const made = [
      'configmap settings --from-literal=a=1',
      'secret generic key --from-literal=a=1',
      'serviceaccount robot',
      'deployment shop --image=nginx --port=80',
      'job once --image=busybox -- true',
      'cronjob nightly --image=busybox --schedule=@daily -- true',
      'role reader --verb=get --resource=pods',
      'rolebinding readers --role=reader --user=jane',
      'quota few --hard=pods=50',
      'poddisruptionbudget keep --selector=app=shop --min-available=50%',
      'service clusterip shop --tcp=80:8080',
    ]
    for (const line of made) expect(await kubectl(`create -n ${namespace} ${line}`)).toContain(' created')
    await kubectl(`create -f -`, vm(namespace, '64Mi'))
    const read = (what: string, jsonpath: string) =>
      kubectl(`get -n ${namespace} ${what} -o jsonpath=${jsonpath}`)
    expect(await read('secret/key', '{.data.a}')).toBe('MQ==')
    expect(
      await read('deploy/shop', '{.spec.replicas}{.spec.template.spec.containers[0].ports[0].containerPort}'),
    ).toBe('180')
    expect(await read('cronjob/nightly', '{.spec.schedule}')).toBe('@daily')
    expect(await read('role/reader', '{.rules[0].verbs[0]}')).toBe('get')
    expect(await read('quota/few', '{.spec.hard.pods}')).toBe('50')
    expect(await read('pdb/keep', '{.spec.minAvailable}')).toBe('50%')
    expect(await read('svc/shop', '{.spec.ports[0].targetPort}')).toBe('8080')
    await expect(kubectl(`create -n ${namespace} serviceaccount robot`)).rejects.toThrow('already exists')
  })

  test('apply: by the client and by the server, with the conflict that a real one has', async () => {
    expect(await kubectl('apply -f -', deployment(namespace, 2))).toContain('web created')
    expect(await kubectl('apply -f -', deployment(namespace, 2))).toContain('web unchanged')
    expect(await kubectl('apply -f -', deployment(namespace, 3))).toContain('web configured')
    expect(await kubectl('apply --dry-run=server -f -', deployment(namespace, 1))).toContain(
      '(server dry run)',
    )
    expect(await kubectl('apply --server-side -f -', vm(namespace, '96Mi')).catch(String)).toContain(
      'conflict',
    )
    expect(await kubectl('apply --server-side --force-conflicts -f -', vm(namespace, '96Mi'))).toContain(
      'serverside-applied',
    )
    const memory = '{.spec.template.spec.domain.memory.guest}'
    expect(await kubectl(`get vm -n ${namespace} mine -o jsonpath=${memory}`)).toBe('96Mi')
  })

  test('patch, label, set image: merge, JSON and strategic', async () => {
    await kubectl(`patch vm -n ${namespace} mine --type merge -p {"spec":{"runStrategy":"Manual"}}`)
    const json = '[{"op":"replace","path":"/spec/runStrategy","value":"Always"}]'
    await kubectl(`patch vm -n ${namespace} mine --type json -p ${json}`)
    const strategic = '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:2"}]}}}}'
    await kubectl(`patch deploy -n ${namespace} web -p ${strategic}`)
    await kubectl(`label vm -n ${namespace} mine a=b`)
    expect(await kubectl(`set image -n ${namespace} deploy/web web=nginx:3`)).toContain('image updated')
    const image = '{.spec.template.spec.containers[0].image}'
    expect(await kubectl(`get deploy -n ${namespace} web -o jsonpath=${image}`)).toBe('nginx:3')
  })

  test('wait and rollout status end when it is so, and with an error when it is not', async () => {
    expect(await kubectl('wait -n kubevirt kv/kubevirt --for=condition=Available --timeout=30s')).toContain(
      'met',
    )
    expect(await kubectl(`rollout status -n ${namespace} deploy/web --timeout=50s`)).toContain('successfully')
    const running = '--for=jsonpath={.status.printableStatus}=Running'
    expect(await kubectl(`wait -n ${namespace} vm/mine ${running} --timeout=50s`)).toContain('met')
    await expect(kubectl('wait -n demo vm/pet --for=delete --timeout=1s')).rejects.toThrow('timed out')
  })

  test('logs: of a pod, of a Deployment, by label', async () => {
    expect(await kubectl('logs -n kubevirt deploy/virt-operator')).toContain('virt-operator')
    expect(await kubectl('logs -n kubevirt -l kubevirt.io=virt-api --tail=1')).toContain('virt-api')
  })

  test('get -w follows a list and one object: what is there, then each change', async () => {
    const all = followed(['get', 'deploy', '-A', '-w'])
    const one = followed(['get', 'deploy', '-n', namespace, 'web', '-w'])
    const both = (row: RegExp) => [all.text(), one.text()].every((text) => row.test(text))
    await expect.poll(() => both(/web +3\/3/u), { timeout: 20_000 }).toBe(true)
    await kubectl(`patch deploy -n ${namespace} web -p {"spec":{"replicas":1}}`)
    await expect.poll(() => both(/web +1\/1/u), { timeout: 20_000 }).toBe(true)
    all.stop()
    one.stop()
  })

  function followed(args: readonly string[]) {
    const child = spawn(program, args, { env: { KUBECONFIG: own, HOME: path.join(folder, minor) } })
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
    return { text: () => text, stop: () => child.kill('SIGINT') }
  }

  test('delete: by name, by file, all of a namespace; what is left is nothing', async () => {
    expect(await kubectl(`delete vm -n ${namespace} mine`)).toContain('deleted')
    expect(await kubectl('delete -f -', deployment(namespace, 3))).toContain('deleted')
    await expect(kubectl(`delete vm -n ${namespace} mine`)).rejects.toThrow('not found')
    await kubectl(`delete namespace ${namespace} --timeout=50s`)
    await expect(kubectl(`get namespace ${namespace}`)).rejects.toThrow('not found')
  })
})
