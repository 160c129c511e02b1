import { expect, test } from 'vitest'
import type { CheckOptions } from '../../src/commands/check/check.ts'
import { type Pod, Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { CheckDocument } from '../../src/lib/output/views/check-report.ts'
import type { ReportedCheck } from '../../src/lib/checks/check-run.ts'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { rolesFor } from '../../src/lib/upgrade/roles.ts'
import { Killed, mortal } from './mortal-cluster.ts'
import { grantTo } from './granted.ts'
import { Refusal } from '../../src/simulator/api/api-refusal.ts'
import { byManifest, type Ended, minute, play, second, type Stage, type Terminal } from './stage.ts'

const target = 'v1.9.0'
const label = 'kvup.io/probe'

const probe = (stage: Stage, options: Partial<CheckOptions> = {}, terminal: Terminal = {}) =>
  stage.check(target, { probeImages: true, ...options }, terminal)

function itemOf({ documents, text }: Ended): ReportedCheck {
  const [document] = documents as unknown as CheckDocument[]
  const item = document?.items.find(({ id }) => id === 'images-pullable')
  if (item === undefined) throw new Error(text)
  return item
}

const said = (ended: Ended) =>
  itemOf(ended).findings.map(({ level, id, summary }) => `${level} ${id}: ${summary}`)

const asked = () => Promise.reject(new Error('asked'))

const podsOf = (stage: Stage): readonly Pod[] =>
  (stage.simulated.store.list(Pods, {}).items as readonly Pod[]).filter(
    ({ metadata }) => metadata.labels?.[label],
  )

/** Every pod that was ever made for a probe, by image and node. */
function filmOf(stage: Stage): Pod[] {
  const film: Pod[] = []
  stage.simulated.store.watch(Pods, ({ type, object }) => {
    if (type === 'ADDED' && object.metadata.labels?.[label]) film.push(object)
  })
  return film
}

test('C6 without --probe-images it is skipped, a no writes nothing; a yes tries every image on each pool, in pods that may do nothing, and nothing is left of it', async () => {
  await play({ ...byManifest, workers: 2 }, async (stage) => {
    const without = await stage.check(target)
    expect(itemOf(without)).toMatchObject({ is: 'skipped', without: '--probe-images', findings: [] })
    expect(without.text).toContain('1 needs --probe-images')
    const questions: string[] = []
    const answer = async (question: string) => questions.push(question) < 0
    expect(await probe(stage, {}, { answer })).toMatchObject({ code: 3, error: { reason: 'answered-no' } })
    expect(questions).toEqual([
      'Try 10 images on cp-1, worker-1, with 10 pods in namespace kubevirt that run nothing and are removed?',
    ])
    expect(stage.writes()).toEqual([])
    const film = filmOf(stage)
    const ended = await probe(stage)
    expect(itemOf(ended)).toMatchObject({ is: 'passed', findings: [] })
    const tried = film.map(
      ({ spec }) => `${spec?.nodeName} ${spec?.containers?.[0]?.image?.split('/').at(-1)}`,
    )
    expect(tried.toSorted()).toEqual([
      'cp-1 virt-api:v1.9.0',
      'cp-1 virt-controller:v1.9.0',
      'cp-1 virt-exportproxy:v1.9.0',
      'cp-1 virt-operator:v1.9.0',
      'cp-1 virt-template-apiserver:v0.2.2',
      'cp-1 virt-template-controller:v0.2.2',
      'worker-1 libguestfs-tools:v1.9.0',
      'worker-1 virt-exportserver:v1.9.0',
      'worker-1 virt-handler:v1.9.0',
      'worker-1 virt-launcher:v1.9.0',
    ])
    expect(podsOf(stage)).toEqual([])
    const kinds = stage.writes().map(({ verb, resource }) => `${verb} ${resource}`)
    expect(new Set(kinds)).toEqual(new Set(['create pods', 'delete pods']))
    stage.edit({ imagePullSecrets: [{ name: 'mirror' }], imagePullPolicy: 'Always' })
    await stage.until(minute)
    await probe(stage)
    const launcher = film.findLast(({ spec }) => spec?.containers?.[0]?.image?.includes('/virt-launcher:'))
    expect(launcher?.metadata).toMatchObject({ namespace: 'kubevirt' })
    expect(launcher?.metadata.name).toMatch(/^kvup-probe-[0-9a-f]{8}-\d+$/u)
    expect(launcher?.metadata.labels?.['kubevirt.io']).toBeUndefined()
    expect(launcher?.spec).toMatchObject({
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      activeDeadlineSeconds: 600,
      imagePullSecrets: [{ name: 'mirror' }],
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          imagePullPolicy: 'Always',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    })
  })
})

test('C6 an image that the registry lacks is a blocker with the node, the answer of the registry and what helps', async () => {
  await play({ ...byManifest, registry: 'mirror.example/kubevirt' }, async (stage) => {
    stage.simulated.faults.set({ unpullable: '/virt-template-apiserver:' })
    const ended = await probe(stage)
    expect(ended.code).toBe(3)
    const image = 'mirror.example/kubevirt/virt-template-apiserver:v0.2.2'
    expect(said(ended)).toEqual([
      `blocker images-pullable: cp-1 cannot pull ${image} (virt-template-apiserver): not found ("failed to pull and unpack image "${image}": not found")`,
    ])
    expect(itemOf(ended).findings[0]).toMatchObject({
      remedy: [
        `skopeo copy --all docker://quay.io/kubevirt/virt-template-apiserver:v0.2.2 docker://${image}`,
        `crictl pull ${image}     on cp-1`,
      ],
      objects: ['node/cp-1'],
    })
    expect(podsOf(stage)).toEqual([])
    const accepted = await probe(stage, { accept: ['images-pullable=it is being copied'] })
    expect(itemOf(accepted).findings[0]).toMatchObject({ accepted: true, reason: 'it is being copied' })
  })
})

test('C6 what only an extra feature needs is a warning', async () => {
  await play(byManifest, async (stage) => {
    stage.simulated.faults.set({ unpullable: '/libguestfs-tools:' })
    expect(said(await probe(stage))).toEqual([
      expect.stringMatching(/^warning images-pullable: worker-1 cannot pull .*libguestfs-tools:v1\.9\.0/u),
    ])
  })
})

test('C6 a registry that denies one pool of nodes is found on that pool alone', async () => {
  await play({ ...byManifest, workers: 2 }, async (stage) => {
    stage.simulated.faults.set({
      denied: '/virt-launcher:v1\\.9\\.0$',
      pullsFailOn: ['worker-2'],
      tainted: ['worker-2'],
    })
    await stage.until(second)
    const ended = await probe(stage)
    expect(said(ended)).toEqual([
      expect.stringContaining(
        'worker-2 cannot pull quay.io/kubevirt/virt-launcher:v1.9.0 (virt-launcher): not allowed to pull it',
      ),
    ])
    expect(itemOf(ended).findings[0]?.remedy[0]).toContain(
      '"path":"/spec/imagePullSecrets","value":[{"name":"SECRET"}]',
    )
  })
})

test('C6 a failure that passes is waited for, one that lasts is not', async () => {
  await play(byManifest, async (stage) => {
    stage.simulated.faults.set({
      unpullable: '/virt-api:v1\\.9\\.0$',
      pullWords: 'toomanyrequests: slow down',
    })
    stage.later(8 * second, () => stage.simulated.faults.set({ unpullable: undefined, pullWords: undefined }))
    const ended = await probe(stage)
    expect(itemOf(ended)).toMatchObject({ is: 'passed' })
    expect(ended.took).toBeGreaterThan(8 * second)
    stage.simulated.faults.set({ unpullable: '/virt-api:v1\\.9\\.0$', pullWords: 'dial tcp: i/o timeout' })
    const late = await probe(stage)
    expect(said(late)).toEqual([expect.stringContaining('the registry cannot be reached')])
    expect(late.took).toBeGreaterThan(minute)
    expect(late.took).toBeLessThan(2 * minute)
    stage.simulated.faults.set({ pullWords: undefined })
    expect((await probe(stage)).took).toBeLessThan(10 * second)
  })
})

test('C6 a pool whose nodes are not ready is not taken for good', async () => {
  await play(byManifest, async (stage) => {
    stage.simulated.faults.set({ notReady: ['worker-1'] })
    await stage.until(second)
    const ended = await probe(stage)
    expect(said(ended)).toEqual([
      'blocker images-not-tried: kvup did not check whether the image of virt-handler, virt-launcher can be pulled: worker-1 is not ready',
      'warning images-not-tried: kvup did not check whether the image of virt-exportserver, libguestfs-tools can be pulled: worker-1 is not ready',
    ])
  })
})

test('C6 a quota that lets no pod be is told with its numbers, and nothing is taken for pulled', async () => {
  await play(byManifest, async (stage) => {
    stage.simulated.faults.set({ quota: 'kubevirt' })
    const ended = await probe(stage)
    expect(ended.code).toBe(3)
    const all = said(ended)
    expect(all).toHaveLength(10)
    expect(
      all.every(
        (text) => text.includes('images-not-tried') && text.includes('the ResourceQuota pods is used up'),
      ),
    ).toBe(true)
    expect(podsOf(stage)).toEqual([])
  })
})

test('C6 a quota with room for some is used one after the other', async () => {
  await play(byManifest, async (stage) => {
    let most = 0
    stage.simulated.store.admission.add(({ operation, kind, object: { metadata } }) => {
      if (operation !== 'CREATE' || kind.kind !== Pods.kind || !metadata.labels?.[label]) return
      const there = podsOf(stage).length
      if (there >= 2)
        throw new Refusal(
          403,
          'Forbidden',
          'pods is forbidden: exceeded quota: two, requested: pods=1, used: pods=2, limited: pods=2',
        )
      most = Math.max(most, there + 1)
    })
    const ended = await probe(stage)
    expect(itemOf(ended)).toMatchObject({ is: 'passed' })
    expect(most).toBe(2)
  })
})

test('C6 Ctrl-C removes what was made, at once', async () => {
  await play(byManifest, async (stage) => {
    stage.simulated.faults.set({ unpullable: '/virt-api:v1\\.9\\.0$', pullWords: 'i/o timeout' })
    const stop = new AbortController()
    let there = 0
    stage.later(5 * second, () => {
      there = podsOf(stage).length
      stop.abort(interrupted('SIGINT'))
    })
    const ended = await probe(stage, {}, { signal: stop.signal })
    expect(there).toBeGreaterThan(0)
    expect([ended.code, ended.took <= 7 * second]).toEqual([130, true])
    await stage.until(second)
    expect(podsOf(stage)).toEqual([])
  })
})

test('C6 killed half-way its pods end by themselves, and the next probe removes them, but not those of another that runs', async () => {
  await play(byManifest, async (stage) => {
    stage.simulated.faults.set({ unpullable: '/virt-api:v1\\.9\\.0$', pullWords: 'i/o timeout' })
    const dying = mortal(stage.cluster, { afterCallWhen: () => podsOf(stage).length >= 10 })
    await expect(probe(stage, {}, { cluster: dying })).rejects.toThrow(Killed)
    expect(podsOf(stage)).toHaveLength(10)
    await stage.until(10 * minute)
    expect(podsOf(stage).map(({ status }) => status?.phase)).not.toContain('Pending')
    expect(podsOf(stage).map(({ status }) => status?.reason)).toContain('DeadlineExceeded')
    stage.simulated.faults.set({ unpullable: undefined, pullWords: undefined })
    expect(itemOf(await probe(stage)).is).toBe('passed')
    expect(podsOf(stage)).toHaveLength(10)
    await stage.until(3 * minute)
    const next = await probe(stage)
    expect(next.text).toContain('that an earlier probe left behind')
    expect(itemOf(next)).toMatchObject({ is: 'passed' })
    expect(podsOf(stage)).toEqual([])
  })
})

test('C6 two at once do not take each other’s pods', async () => {
  await play(byManifest, async (stage) => {
    const both = await Promise.all([probe(stage), probe(stage)])
    expect(both.map((ended) => itemOf(ended).is)).toEqual(['passed', 'passed'])
    expect(podsOf(stage)).toEqual([])
  })
})

test('C6 pods that somebody deletes are not taken for pulled', async () => {
  await play(byManifest, async (stage) => {
    stage.simulated.faults.set({ unpullable: '/virt-api:v1\\.9\\.0$', pullWords: 'i/o timeout' })
    stage.later(5 * second, () => {
      for (const { metadata } of podsOf(stage))
        stage.simulated.store.remove(Pods, { name: metadata.name, namespace: 'kubevirt' })
    })
    expect(said(await probe(stage))).toEqual([expect.stringContaining('its pod was deleted by someone else')])
  })
})

test('C6 who may not make pods is told before the question', async () => {
  await play(byManifest, async (stage) => {
    const [everywhere, here] = rolesFor('kvup-operator-manifest', 'kubevirt')
    const rules = here.rules?.filter(
      ({ resources, verbs }) => !(resources?.includes('pods') && verbs.includes('create')),
    )
    grantTo(stage, 'jane', [everywhere, { ...here, rules: rules ?? [] }])
    const ended = await probe(
      stage,
      {},
      { cluster: stage.simulated.cluster({ user: 'jane', groups: [] }), answer: asked },
    )
    expect(ended).toMatchObject({ code: 7 })
    expect(ended.text).toContain(
      'jane may not create pods in namespace kubevirt, nor delete pods in namespace kubevirt',
    )
    expect(ended.text).toContain('kvup rbac kvup-upgrade')
  })
})

test.each([
  [{ from: 'cluster.yaml' }, 'probe-saved'],
  [{ manifest: undefined as never }, 'probe-without-manifest'],
])('C6 %j is refused before the cluster is read', async (options, reason) => {
  await play(byManifest, async (stage) => {
    expect(await probe(stage, options)).toMatchObject({ code: 2, error: { reason } })
    expect(stage.requests()).toEqual([])
  })
})
