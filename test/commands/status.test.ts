import { afterEach, expect, test } from 'vitest'
import { status, type StatusOptions } from '../../src/commands/status/status.ts'
import type { Context } from '../../src/context.ts'
import type { Reader } from '../../src/lib/kube/cluster.ts'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { paintFor, printedLine } from '../../src/lib/output/terminal.ts'
import type { Document, Printer, View } from '../../src/lib/output/printer.ts'
import type { StatusDocument } from '../../src/lib/output/views/status.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import type { SimulatedCluster, Simulation } from '../../src/simulator/simulated-cluster.ts'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { example, exampleOf } from '../lib/kubevirt/example.ts'
import { refusing } from '../lib/refusing-reader.ts'
import { settled } from '../lib/settled.ts'

const running: SimulatedCluster[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((sim) => sim.stop()))
})

interface Told {
  documents: StatusDocument[]
  texts: string[]
  warnings: string[]
}

function printer(told: Told, onResult: (document: StatusDocument) => void): Printer {
  const paint = paintFor({ colour: false, unicode: false })
  return {
    result: <T extends Document>(document: T, view: View<T>) => {
      told.documents.push(document as Document as StatusDocument)
      told.texts.push(
        view.text(document, paint, { columns: Infinity, wide: false }).map(printedLine).join('\n'),
      )
      onResult(document as Document as StatusDocument)
    },
    unchanged: () => undefined,
    rows: () => ({ add: () => undefined, end: () => undefined }),
    event: () => undefined,
    awaiting: () => undefined,
    note: () => undefined,
    warn: (line) => told.warnings.push(line),
  }
}

function run(
  reader: Reader,
  clock: Context['clock'],
  { output = 'table', ...options }: StatusOptions & { output?: string },
  onResult: (document: StatusDocument) => void = () => undefined,
) {
  const told: Told = { documents: [], texts: [], warnings: [] }
  const stop = new AbortController()
  const cx = {
    cluster: async () => ({ reader }),
    clock,
    printer: printer(told, onResult),
    signal: stop.signal,
    flags: { output },
    world: { who: 'jane@here', readText: async () => '' },
  } as unknown as Context
  return { told, stop, code: status(cx, options) }
}

async function simulated(more: Omit<Simulation, 'clock'>) {
  const clock = new SimClock()
  const sim = await settled({ clock, version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag', ...more })
  running.push(sim)
  const { reader, writer } = sim.cluster()
  const tag = (imageTag: string) =>
    writer.mergePatch(KubeVirts, { name: 'kubevirt', namespace: 'kubevirt' }, { spec: { imageTag } })
  return { clock, sim, reader, tag }
}

test.each([
  ['healthy', 'Healthy', 0],
  ['updating-canary-passed', 'Updating', 10],
  ['wrong-tag', 'Stalled', 4],
  ['operator-may-not-grant', 'Degraded', 3],
] as const)('%s: exit 0, and with --exit-code %s is %i', async (name, verdict, code) => {
  const { reader, clock } = example(name)
  const plain = run(reader, clock, {})
  expect(await plain.code).toBe(0)
  expect(plain.told.documents).toMatchObject([{ apiVersion: 'kvup.io/v1alpha1', kind: 'Status', verdict }])
  expect(await run(reader, clock, { exitCode: true }).code).toBe(code)
})

test('--exit-code says why it is not 0 in one line on stderr, where stdout is no text for a person', async () => {
  const { reader, clock } = example('operator-may-not-grant')
  for (const output of ['name', 'json']) {
    const { code, told } = run(reader, clock, { exitCode: true, output })
    expect(await code).toBe(3)
    expect(told.warnings).toEqual([expect.stringMatching(/^KubeVirt .* is Degraded: \S/u)])
  }
  for (const options of [{ exitCode: true, output: 'wide' }, { output: 'name' }]) {
    const { code, told } = run(reader, clock, options)
    await code
    expect(told.warnings).toEqual([])
  }
})

test.each(['daemonsets', 'pods', 'apiservices'])(
  'where %s may not be read, the verdict says that not all was judged',
  async (plural) => {
    const { reader, clock } = example('healthy')
    const whole = run(reader, clock, {})
    await whole.code
    expect(whole.told.texts[0]).toMatch(/^KubeVirt v1\.8\.4: healthy\. Update available: v1\.9\.0$/mu)
    expect(whole.told.documents[0]).not.toHaveProperty('partly')
    const { told, code } = run(refusing(reader, [plural]), clock, {})
    await code
    expect(told.texts[0]).toMatch(/^KubeVirt v1\.8\.4: healthy, but not everything was checked/u)
    expect(told.texts[0]).toMatch(new RegExp(`^not checked .*${plural} is forbidden$`, 'mu'))
    expect(told.documents).toMatchObject([{ verdict: 'Healthy', partly: true }])
  },
)

test.each([
  ['virtualmachineinstances', 'running VMs cannot be read'],
  ['virtualmachineinstancemigrations', 'migrations: virtualmachineinstancemigrations is forbidden'],
] as const)('where %s may not be read, the state is not plainly healthy', async (plural, why) => {
  const { reader, clock } = await simulated({ vms: 2 })
  const { told, code } = run(refusing(reader, [plural]), clock, {})
  await code
  expect(told.documents[0]?.state).toMatchObject({
    is: 'NotChecked',
    why: [`not checked: ${why}`, expect.anything()],
  })
})

test('on a cluster with layers the verdict over all says so too, and KubeVirt has no good mark', async () => {
  const { reader, clock } = example('openshift-with-hyperconverged')
  const { told, code } = run(refusing(reader, ['daemonsets', 'machineconfigpools']), clock, {})
  await code
  expect(told.documents[0]?.overall).toEqual({ verdict: 'Healthy', notJudged: ['pool', 'KubeVirt'] })
  expect(told.texts[0]).toMatch(
    /^KubeVirt v1\.4\.1: healthy, but not everything was checked\n {2}not checked: .*; pool/mu,
  )
  expect(told.texts[0]).toMatch(/^KubeVirt +! healthy, but not everything was checked: /mu)
})

test('night U7: an operator without a KubeVirt is shown, with what makes it begin', async () => {
  const { reader, clock } = example('operator-without-kubevirt')
  const { told, code } = run(reader, clock, {})
  expect(await code).toBe(0)
  expect(told.texts[0]).toContain('virt-operator does nothing until that resource exists')
  expect(told.documents[0]).toMatchObject({ idleOperator: { version: 'v1.7.0', namespace: 'kubevirt' } })
})

const kubevirt = (namespace: string) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: { name: 'kubevirt', namespace },
})

test('no KubeVirt, and two of them, are exit 3', async () => {
  const none = exampleOf([], '2026-11-21T10:00:00Z')
  await expect(run(none.reader, none.clock, {}).code).rejects.toMatchObject({
    exitCode: 3,
    reason: 'no-kubevirt',
  })
  const two = exampleOf([kubevirt('a'), kubevirt('b')], '2026-11-21T10:00:00Z')
  await expect(run(two.reader, two.clock, {}).code).rejects.toMatchObject({
    exitCode: 3,
    reason: 'several-kubevirts',
  })
})

test('-w follows an update from Settled to Settled, a document per change', async () => {
  const { clock, reader, tag } = await simulated({})
  let updated = false
  const { told, stop, code } = run(reader, clock, { watch: true }, ({ verdict, observed }) => {
    updated ||= verdict === 'Updating'
    if (updated && verdict === 'Healthy' && observed?.version === 'v1.8.4') stop.abort(interrupted('SIGINT'))
  })
  await clock.sleep(1000)
  await tag('v1.8.4')
  await expect(code).rejects.toMatchObject({ exitCode: 130 })
  const found = told.documents.map(({ verdict }) => verdict).filter((v, index, all) => v !== all[index - 1])
  expect(found).toEqual(['Healthy', 'Updating', 'Healthy'])
  const steps = told.documents.flatMap(({ waitingFor }) => waitingFor?.match(/^virt-[a-z]+/)?.[0] ?? [])
  expect(steps.filter((step, index) => steps.indexOf(step) === index)).toEqual([
    'virt-operator',
    'virt-handler',
    'virt-controller',
    'virt-api',
  ])
  const texts = told.documents.map((document) => JSON.stringify({ ...document, takenAt: undefined }))
  expect(texts.filter((text, index) => text === texts[index - 1])).toEqual([])
})

test.each([
  [
    'an image that cannot be pulled',
    { unpullable: 'virt-handler:v1.8.4' },
    /virt-handler on worker-\d cannot pull .*virt-handler:v1.8.4: not found/,
  ],
  [
    'a canary that crashes',
    { crashing: 'virt-handler:v1.8.4' },
    /virt-handler on worker-\d is in CrashLoopBackOff/,
  ],
  ['a pod that no node takes', { unschedulable: 'virt-api' }, /pod virt-api-\S+ finds no node/],
  [
    'an operator that hangs',
    { stopped: true },
    /virt-operator is gone or stuck: its leader virt-operator-\S+ did not renew its Lease within 30 s/,
  ],
] as const)('%s: named, and Stalled', async (_name, faults, sentence) => {
  const { clock, sim, reader, tag } = await simulated({})
  sim.faults.set(faults)
  await tag('v1.8.4')
  const { told, stop, code } = run(reader, clock, { watch: true }, ({ verdict }) => {
    if (verdict === 'Stalled') stop.abort(interrupted('SIGINT'))
  })
  await expect(code).rejects.toMatchObject({ exitCode: 130 })
  expect(told.documents.at(-1)?.why?.[0]?.sentence).toMatch(sentence)
  expect(told.documents.map(({ verdict }) => verdict).slice(0, -1)).not.toContain('Healthy')
})

test('a node that is lost in an update holds virt-handler up, and is named at once', async () => {
  const { clock, sim, reader, tag } = await simulated({})
  sim.faults.set({ notReady: ['worker-2'] })
  await tag('v1.8.4')
  await clock.sleep(300_000)
  const { told, code } = run(reader, clock, {})
  await code
  expect(told.texts[0]).toContain('node worker-2 is NotReady, and virt-handler waits for it')
})
