import { expect, test } from 'vitest'
import { ClusterRoles, type Role, Roles } from '../../src/lib/kube/kinds/extension-kinds.ts'
import { lineRights } from '../../src/lib/job/line-rights.ts'
import { reasonsFor } from '../../src/lib/upgrade/roles.ts'
import { mortal } from './mortal-cluster.ts'
import { asked, created, end, nextPod, place, runPod, typed, written } from './job-stage.ts'
import { play, second, type Stage } from './stage.ts'

const shape = {
  version: 'v1.7.4',
  operator: 'v1.8.4',
  method: 'image-tag',
  vms: 2,
  methods: ['LiveMigrate'],
} as const

/** Runs the line in the next pod until its call after which this is so; then its node pulls the plug. */
async function killWhen(stage: Stage, when: (sinceBegin: number) => boolean): Promise<void> {
  const pod = await nextPod(stage)
  const began = stage.now
  const isDone = () => when(stage.now - began)
  let death: Promise<void> = Promise.resolve()
  const run = runPod(stage, pod, (cluster) => {
    const dying = mortal(cluster, { afterCallWhen: isDone })
    death = dying.death
    return dying
  }).catch((error: unknown) => error)
  await death
  expect(stage.holder).toBe(
    `pod:${place.namespace}/${pod.metadata.name}/${pod.metadata.uid}/${stage.holder?.split('/')[3]}`,
  )
  await end(stage, pod, 143)
  void run
}

test('a Job whose pod is killed three times is carried on by the next one at once, and the last run writes nothing', async () => {
  await play(shape, async (stage) => {
    expect(await created(stage, 'v1.8.4')).toMatchObject({ code: 0 })
    await killWhen(stage, () => written(stage).some(({ resource }) => resource === 'kubevirts'))
    await killWhen(stage, () => stage.kubevirt.spec?.imageTag === 'v1.8.4')
    await killWhen(stage, (sinceBegin) => sinceBegin > 20 * second)
    const resumed = await nextPod(stage)
    const before = asked(stage).length
    const began = stage.now
    const { code, out } = await runPod(stage, resumed)
    expect({ code, out: out.slice(-400) }).toMatchObject({ code: 0 })
    const firstWrite = asked(stage)
      .slice(before)
      .find(({ verb, resource }) => verb === 'patch' && resource === 'leases')
    expect((firstWrite?.at.getTime() ?? Infinity) - began).toBeLessThan(15 * second)
    expect(stage.holder).toBe('')
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
    const done = written(stage).length
    expect(await runPod(stage, resumed)).toMatchObject({ code: 0 })
    expect(written(stage).slice(done)).toEqual([])
    // Whoever reads the journal knows which pods it were.
    const history = await typed(stage, ['history'])
    expect(history.out).toContain(`${place.namespace}@${place.name}-`)
    // What was not used only reads, and is there for a cluster that this one is not, or a trouble that it did not have.
    const unused = unusedRights(stage)
    expect(unused.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))).toEqual([])
    expect(new Set(unused.map(({ why }) => why))).toEqual(new Set(whyUnused))
  })
})

/** The cases that need what this run did not use. */
const whyUnused = [
  'count outdated VMs, wait for migrations, compare VMs before and after',
  'optional: compare volumes before and after',
  'optional: find VMs on networks of type cnv-bridge',
  'optional: quote the last log line of a pod that fails',
  'optional: say which alerts fire',
  'optional: say why a pod does not start',
  'optional: see what changed since a VM was started',
  'optional: see whether VMs without a VirtualMachine were scaled in',
  'optional: see which networks of VMs need a device',
  'optional: show the state of the operator of HyperConverged',
  'optional: show the state of the platform, on OKD and OpenShift',
  'optional: show which node blocks an update',
  'see the components roll',
  'see the install strategy Job',
]

interface UnusedRight {
  right: string
  verb: string
  /** The case that needs it. */
  why: string
}

/** Rights that the Job was given and did not use in this run, by the audit log. */
function unusedRights(stage: Stage): UnusedRight[] {
  const used = new Set(
    asked(stage).map(({ verb, group, resource, subresource }) =>
      [verb, group, subresource === undefined ? resource : `${resource}/${subresource}`].join(' '),
    ),
  )
  const { rights } = lineRights({ role: 'kvup-upgrade', cancelsMigrations: false, waitsForVms: false })
  const [reasons, ofKubevirt] = reasonsFor('kvup-upgrade', rights)
  const { store } = stage.simulated
  const cluster = store.read(ClusterRoles, { name: `kvup-job:${place.name}` }) as Role
  const own = store.read(Roles, { name: `kvup-job:${place.name}`, namespace: 'kubevirt' }) as Role
  const rules = [cluster, own].flatMap(({ rules: of = [] }, part) =>
    of.map((rule, i) => ({ rule, why: [reasons, ofKubevirt][part]?.[i] ?? '' })),
  )
  return rules.flatMap(({ rule: { apiGroups = [], resources = [], verbs }, why }) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        used.has([verb, apiGroups[0], resource].join(' ')) ? [] : [{ right: resource, verb, why }],
      ),
    ),
  )
}
