// Several clusters are upgraded one after the other, once by the lines of a shell: more than 3 s of processor time.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { Namespaces } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { paste } from '../built/program.ts'
import { type FleetStage, fleetStage } from './fleet-stage.ts'

const shape = () => ({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms: 1 }) as const
const unsavedLine = 'fleet plan --contexts prod-* --to v1.8.4 --method image-tag --stable-for 5s'.split(' ')
const planLine = ({ folder }: FleetStage) => [...unsavedLine, '--to-folder', join(folder, 'plans')]

async function staged(...names: readonly string[]): Promise<FleetStage> {
  const stage = await fleetStage(names, shape)
  onTestFinished(() => stage.stop())
  return stage
}

interface Config {
  clusters: { name: string; cluster: { server: string } }[]
  users: { name: string }[]
  contexts: { name: string; context: { cluster: string; user: string } }[]
}

const configOf = ({ folder }: FleetStage) =>
  JSON.parse(readFileSync(join(folder, 'kubeconfig'), 'utf8')) as Config

function addContext(stage: FleetStage, name: string, cluster: string): void {
  const config = configOf(stage)
  config.contexts.push({ name, context: { cluster, user: 'admin' } })
  writeFileSync(join(stage.folder, 'kubeconfig'), JSON.stringify(config))
}

const plansIn = ({ folder }: FleetStage): readonly string[] => {
  const all = readdirSync(folder)
  return all.includes('plans') ? readdirSync(join(folder, 'plans')).toSorted() : []
}

const versionOf = async (stage: FleetStage, name: string) =>
  (await stage.run(['status', '--context', name, '-o', 'jsonpath={.observed.version}'])).stdout.trim()

interface Step {
  template: string
  arguments?: { parameters: { name: string; value: string }[] }
}

interface Template {
  name: string
  steps?: Step[][]
  container?: { args: string[] }
}

test('the lines of the workflow, group by group, upgrade each cluster once by its own plan', async () => {
  const stage = await staged('prod-0', 'prod-1', 'prod-2')
  const planned = await stage.run([...planLine(stage), '--canary', 'prod-2', '-o', 'argo-workflow'])
  expect({ code: planned.code, said: planned.stderr }).toMatchObject({ code: 0 })
  expect(plansIn(stage)).toEqual(stage.clusters.map(({ uid }) => `${uid}.yaml`).toSorted())
  const { spec } = parse(planned.stdout) as { spec: { templates: Template[] } }
  const { args = [] } = spec.templates.find(({ name }) => name === 'cluster')?.container ?? {}
  /** What Argo and the kubelet do of a step: its parameters, and the files where the pod has them. */
  const carry = ({ arguments: given }: Step) =>
    stage.run(
      args.map((word) =>
        (given?.parameters ?? [])
          .reduce((said, { name, value }) => said.replace(`{{inputs.parameters.${name}}}`, value), word)
          .replace('/plans/', `${stage.folder}/plans/`)
          .replace('/kubeconfig/config', join(stage.folder, 'kubeconfig')),
      ),
    )
  const groups = spec.templates[0]?.steps ?? []
  expect(groups.map((group) => group.map(({ template }) => template))).toEqual([
    ['cluster'],
    ['person'],
    ['cluster', 'cluster'],
  ])
  const ended = await Promise.all((groups[0] ?? []).map(carry))
  expect(ended.map(({ code }) => code)).toEqual([0])
  expect(['prod-0', 'prod-1', 'prod-2'].map((name) => stage.writes(name) > 0)).toEqual([false, false, true])
  const rest = await Promise.all((groups[2] ?? []).map(carry))
  expect(rest.map(({ code }) => code)).toEqual([0, 0])
  const names = stage.clusters.map(({ name }) => name)
  expect(await Promise.all(names.map((name) => versionOf(stage, name)))).toEqual(names.map(() => 'v1.8.4'))
  // Tried again, a step finds what is done, and writes nothing.
  const before = names.map((name) => stage.writes(name))
  expect(
    await Promise.all(
      groups
        .flat()
        .filter(({ template }) => template === 'cluster')
        .map(carry),
    ),
  ).toEqual(names.map(() => expect.objectContaining({ code: 0 }) as object))
  expect(names.map((name) => stage.writes(name))).toEqual(before)
})

/** Of docs/guide/ci.md, as it stands there. */
const [, ciLine = ''] =
  /^## Many clusters$[\s\S]*?^```sh\n([\s\S]*?)^```$/mu.exec(readFileSync('docs/guide/ci.md', 'utf8')) ?? []

test('the line for CI upgrades one after the other, the canary first, and stops at any end but 0', async () => {
  const stage = await staged('prod-0', 'prod-1', "prod-2's")
  const place = {
    kubeconfig: join(stage.folder, 'kubeconfig'),
    cwd: stage.folder,
    longest: 150_000,
    env: { TO: 'v1.8.4', HOME: join(stage.folder, 'home') },
  }
  const line = ciLine
    .replace('--canary prod-1', '--canary "prod-2\'s" --method image-tag --stable-for 5s')
    .replace(' --yes', ' --yes --timeout 4m')
  expect(line).not.toBe(ciLine)
  const { faults } = stage.cluster('prod-0').cluster
  faults.set({ unpullable: 'virt-handler:v1.8.4' })
  const stopped = await paste(line, place)
  expect({ code: stopped.code, said: stopped.stderr }).toMatchObject({ code: 4 })
  expect(await versionOf(stage, "prod-2's")).toBe('v1.8.4')
  expect(stage.writes('prod-1')).toBe(0)
  faults.set({ unpullable: undefined })
  // The same lines make plans of what is left.
  const ended = await paste(line, place)
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })
  expect(await versionOf(stage, 'prod-1')).toBe('v1.8.4')
})

test('two contexts of one cluster are one cluster of the plan, which is said; two minds about it are refused', async () => {
  const stage = await staged('prod-0')
  addContext(stage, 'prod-again', 'prod-0')
  const ran = await stage.run([...planLine(stage), '-o', 'json'])
  expect({ code: ran.code, said: ran.stderr }).toMatchObject({ code: 0 })
  expect(ran.stderr).toContain('prod-again is a context of the same cluster as prod-0')
  expect(JSON.parse(ran.stdout)).toMatchObject({ clusters: [{ name: 'prod-0', group: 1 }] })
  const refused = await stage.run([...planLine(stage), '--canary', 'prod-again'])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('are one cluster') as string })
})

test('a plan that is saved nowhere, a cluster that is gone, and one whose uid is a path: no plan is saved, and none is called by a name', async () => {
  const stage = await staged('prod-0', 'prod-1')
  const unsaved = await stage.run([...unsavedLine, '-o', 'argo-workflow'])
  expect(unsaved).toMatchObject({ code: 2, stdout: '' })
  const { store } = stage.cluster('prod-1').cluster
  const system = store.read(Namespaces, { name: 'kube-system' })
  for (const uid of ['../../prod', '/etc/x', 'a b', '', 'a\n- b', '..', '-x']) {
    if (system) store.put(Namespaces, { ...system, metadata: { ...system.metadata, uid } })
    expect(await stage.run(planLine(stage))).toMatchObject({ code: 8 })
    expect(plansIn(stage)).toEqual([])
  }
  await stage.cluster('prod-1').stop()
  const gone = await stage.run([...planLine(stage), '-o', 'json'])
  expect(gone.code).toBe(8)
  expect(JSON.parse(gone.stdout)).toMatchObject({
    error: { reason: 'unreachable' },
    clusters: [{ name: 'prod-1', error: { code: 8 } }, { name: 'prod-0' }],
  })
  expect(plansIn(stage)).toEqual([])
})
