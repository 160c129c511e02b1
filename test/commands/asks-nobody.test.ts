import { expect, test } from 'vitest'
import { entries, type Entry } from '../../src/commands/entries.ts'
import type { Context } from '../../src/context.ts'
import { type Reader, readerWith } from '../../src/lib/kube/cluster.ts'
import { Routes } from '../../src/lib/kube/kinds/openshift-kinds.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import type { Simulation } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'
import { small418 } from '../scenario/eus/window-stage.ts'
import table from './asks-nobody.json' with { type: 'json' }
import { settled } from '../lib/settled.ts'

const namesOf = (all: readonly Entry[], above = ''): readonly string[] =>
  all.flatMap(({ name, under }) => (under ? namesOf(under, `${above}${name} `) : [above + name]))

test('each command of the tree reads only, or changes something', () => {
  expect([...Object.keys(table.reads), ...table.changes].toSorted()).toEqual(namesOf(entries).toSorted())
})

/** A person is there, and every question is a fault. */
const prompt: Context['prompt'] = new Proxy({ isAttended: true } as Context['prompt'], {
  get(_, name) {
    if (name === 'isAttended') return true
    throw new Error(`asked: ${String(name)}`)
  },
})

const fleet = `--contexts one --kubeconfig ${import.meta.dirname}/one-context.json`
const small = { version: 'v1.8.4', workers: 1, controlPlanes: 1, vms: 1 } as const

async function place(shape: Omit<Simulation, 'clock'>, hasRoute: boolean) {
  const clock = new SimClock()
  const simulated = await settled({ ...shape, clock })
  const cluster = simulated.cluster()
  const files = {
    'operator.yaml': asYaml(simulated.operatorManifest('v1.9.0')),
  }
  await simulated.stop()
  const route = { apiVersion: Routes.apiVersion, kind: 'Route', metadata: { name: 'thanos-querier' } }
  const get: Reader['get'] = async (kind, ref) =>
    hasRoute && kind.plural === Routes.plural
      ? { is: 'object', object: route as never }
      : cluster.reader.get(kind, ref)
  const asked: string[] = []
  const askRoute: Reader['askRoute'] = async ({ host }) => (asked.push(host), { why: 'asked' })
  return {
    place: { cluster: { ...cluster, reader: readerWith(cluster.reader, { get, askRoute }) }, clock, files },
    asked,
  }
}

test.each([
  ['plain', small, false],
  ['OpenShift without the Route of alerts', small418, false],
  ['OpenShift with it', small418, true],
] as const)(
  'on %s no command that only reads asks a person, or sends the token away',
  async (_, shape, hasRoute) => {
    const { place: on, asked } = await place(shape, hasRoute)
    for (const [command, line] of Object.entries(table.reads)) {
      const argv = line.replace('FLEET', fleet).split(' ').filter(Boolean)
      const { code, out, err } = await runText(argv, { ...on, columns: 100, prompt })
      const wrong = [1, 2].includes(code) && `${code} ${out}${err}`
      const offers = command === 'check' && (out + err).includes('--alerts=route')
      expect([command, wrong, offers]).toEqual([command, false, command === 'check' && hasRoute])
    }
    expect(asked).toEqual([])
  },
)
