import { expect } from 'vitest'
import type { AuditWrite } from './audit-log.ts'
import { kvup } from './kvup.ts'
import type { Lab } from './lab.ts'

interface Named {
  metadata: { name: string; annotations?: Record<string, string>; deletionTimestamp?: string }
}
interface Items<T> {
  items: T[]
}
interface KubeVirt extends Named {
  spec: { imageTag?: string; workloadUpdateStrategy?: { workloadUpdateMethods?: string[] } }
  status: {
    targetDeploymentID: string
    observedDeploymentID: string
    observedKubeVirtVersion: string
    conditions: { type: string; status: string }[]
  }
}
interface Pod extends Named {
  spec: { containers: { image: string }[] }
}

const namespace = ['-n', 'kubevirt'] as const
const infrastructure = 'kubevirt.io in (virt-api,virt-controller,virt-handler,virt-exportproxy)'

export const kubeVirtOf = (lab: Lab): Promise<KubeVirt> =>
  lab.object('get', ...namespace, 'kubevirt.kubevirt.io', 'kubevirt')

export const methodsOf = ({ spec }: KubeVirt): string[] | undefined =>
  spec.workloadUpdateStrategy?.workloadUpdateMethods

/** The notes on the KubeVirt: one per setting of it that is still borrowed. */
export async function openOverrides(lab: Lab): Promise<string[]> {
  const { metadata } = (await kubeVirtOf(lab)) as KubeVirt & Annotated
  const notes = Object.entries(metadata.annotations ?? {})
  return notes.flatMap(([key, note]) => (key.startsWith('kvup.io/saved-') ? [note] : []))
}

interface Annotated {
  metadata: { annotations?: Record<string, string> }
}

/** Who now; undefined when nobody does. */
export async function lockHolder(lab: Lab): Promise<string | undefined> {
  const { items } = await lab.object<Items<Named & { spec?: { holderIdentity?: string | null } }>>(
    'get',
    ...namespace,
    'lease',
    '--field-selector=metadata.name=kvup',
  )
  return items[0]?.spec?.holderIdentity || undefined
}

/** How far the roll has come, pod by pod, read with kubectl and never through kvup. */
async function pods(lab: Lab): Promise<{ name: string; identifier: string | undefined; images: string[] }[]> {
  const { items } = await lab.object<Items<Pod>>('get', ...namespace, 'pods', '-l', infrastructure)
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata, spec }) => ({
      name: metadata.name,
      identifier: metadata.annotations?.['kubevirt.io/install-strategy-identifier'],
      images: spec.containers.map(({ image }) => image),
    }))
}

/** Looks at the cluster from outside: every pod runs `version`, the methods are back, nothing is borrowed or locked. */
export async function expectRolled(lab: Lab, version: string, methods?: readonly string[]): Promise<void> {
  const kubevirt = await kubeVirtOf(lab)
  const { status } = kubevirt
  const conditions = Object.fromEntries(status.conditions.map((c) => [c.type, c.status]))
  expect.soft(conditions).toMatchObject({ Available: 'True', Progressing: 'False', Degraded: 'False' })
  expect.soft(status.observedKubeVirtVersion).toBe(version)
  expect.soft(status.observedDeploymentID).toBe(status.targetDeploymentID)
  const running = await pods(lab)
  expect
    .soft(running.map(({ name }) => name.split('-')[1]))
    .toEqual(expect.arrayContaining(['api', 'controller', 'handler']))
  for (const { name, identifier, images } of running) {
    expect.soft({ name, identifier }).toEqual({ name, identifier: status.targetDeploymentID })
    for (const image of images) expect.soft(image).toMatch(new RegExp(`:${version}$`))
  }
  expect.soft(methodsOf(kubevirt)).toEqual(methods)
  expect.soft(await openOverrides(lab)).toEqual([])
  expect.soft(await lockHolder(lab)).toBeUndefined()
}

/** What a run at the goal has to come to: it says so, and writes nothing at all. */
export const nothingToDo = {
  code: 0,
  said: expect.stringMatching(/nothing to do/i) as string,
  writes: [] as AuditWrite[],
}

/** Runs kvup, and reads from the audit log what it wrote. */
export async function runAgain(lab: Lab, args: readonly string[]): Promise<typeof nothingToDo> {
  const since = new Date()
  const { code, stdout, stderr } = await kvup(lab, args)
  return { code, said: stdout + stderr, writes: await lab.auditWrites({ userAgent: 'kvup/', since }) }
}

/** Waits until `holds`; rejects after `seconds`, saying what was waited for. */
export async function eventually(
  what: string,
  seconds: number,
  holds: () => Promise<boolean>,
): Promise<void> {
  const until = Date.now() + seconds * 1000
  while (!(await holds())) {
    if (Date.now() > until) throw new Error(`after ${seconds} s still not: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

export const operatorImage = async (lab: Lab): Promise<string> =>
  lab.kubectl([
    'get',
    ...namespace,
    'deploy',
    'virt-operator',
    '-o',
    'jsonpath={.spec.template.spec.containers[0].image}',
  ])
