import { expect, test } from 'vitest'
import { DaemonSets } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { byManifest, byTag, play, second, type Stage } from './stage.ts'

const flux = {
  labels: { 'kustomize.toolkit.fluxcd.io/name': 'platform', 'kustomize.toolkit.fluxcd.io/namespace': 'flux' },
}
const helm = { annotations: { 'meta.helm.sh/release-name': 'kubevirt' } }

/** Somebody who commits what kvup waits for, and a sync some seconds later. */
function committer(stage: Stage, commits: readonly object[]): void {
  void (async () => {
    for (const spec of commits) {
      await stage.until(40 * second)
      stage.edit(spec, 'kustomize-controller')
    }
  })()
}
const methods = (workloadUpdateMethods: string[]) => ({ workloadUpdateStrategy: { workloadUpdateMethods } })

test('U8 without --follow an owned KubeVirt is blocked, and --follow is named', async () => {
  for (const [metadata, reason] of [
    [flux, 'managed-by-gitops'],
    [helm, 'managed-by-helm'],
  ] as const)
    await play(byTag, async (stage) => {
      stage.label(metadata)
      const ended = await stage.upgrade('v1.8.4')
      expect(ended).toMatchObject({ code: 3, error: { reason } })
      expect(ended.text).toContain('--follow')
      expect(stage.writes()).toEqual([])
    })
})

test('U8 --follow writes nothing to the owned object, says the commits in order, waits, judges and reports', async () => {
  await play(byTag, async (stage) => {
    stage.label(flux)
    committer(stage, [methods([]), { imageTag: 'v1.8.4' }])
    stage.later(240 * second, () => stage.edit(methods(['LiveMigrate']), 'kustomize-controller'))
    const ended = await stage.upgrade('v1.8.4', { follow: true })
    expect(ended).toMatchObject({ code: 0, documents: [{ outcome: 'done' }] })
    expect(stage.writes().filter(({ resource }) => resource === 'kubevirts')).toEqual([])
    const commits = ended.lines.filter((line) => /commit \d/.test(line))
    expect(commits.map((line) => line.replace(/.*spec\./, ''))).toEqual([
      'workloadUpdateStrategy.workloadUpdateMethods: [] (was [LiveMigrate])',
      'imageTag: v1.8.4',
      'workloadUpdateStrategy.workloadUpdateMethods: [LiveMigrate]',
    ])
    const waited = ended.events.flatMap((e) =>
      e.kind === 'step-waiting' && e.state.on.includes('the commit') ? [e.step.id] : [],
    )
    expect(waited).toEqual(['pause-workload-updates', 'version-committed', 'resume-workload-updates'])
  })
})

const no = async () => false

test('U8 --follow needs somebody to follow, and no right to write what he owns', async () => {
  await play(byTag, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { follow: true })).toMatchObject({
      code: 2,
      error: { reason: 'nobody-to-follow' },
    })
    stage.label(flux)
    const { reviewer } = stage.cluster
    const can: typeof reviewer.can = async (access) =>
      access.resource === 'kubevirts' && access.verb === 'patch'
        ? { allowed: false, reason: '' }
        : reviewer.can(access)
    const cluster = { ...stage.cluster, reviewer: { ...reviewer, can } }
    const own = await stage.upgrade('v1.8.4', { accept: ['managed-by-gitops'] }, { cluster, answer: no })
    expect(own).toMatchObject({ code: 7 })
    const watched = await stage.upgrade('v1.8.4', { follow: true }, { cluster, answer: no })
    expect(watched).toMatchObject({ code: 3, error: { reason: 'answered-no' } })
  })
})

test('U8 --follow of an operator manifest waits for it and applies nothing', async () => {
  await play(byManifest, async (stage) => {
    stage.label(helm)
    committer(stage, [methods([])])
    stage.later(90 * second, () => void applyAsHelm(stage))
    stage.later(400 * second, () => stage.edit(methods(['LiveMigrate']), 'helm'))
    const ended = await stage.upgrade('v1.9.0', { follow: true })
    expect(ended).toMatchObject({ code: 0, documents: [{ method: 'operator-manifest' }] })
    const own = new Set(['configmaps', 'leases'])
    expect(stage.writes().filter(({ resource }) => !own.has(resource))).toEqual([])
  })
})

async function applyAsHelm({ simulated }: Stage): Promise<void> {
  const { writer } = simulated.cluster({ user: 'helm', groups: ['system:masters'], fieldManager: 'helm' })
  for (const object of simulated.operatorManifest('v1.9.0')) {
    const kind = simulated.store.kinds.ofObject(object)
    if (kind) await writer.apply(kind, object, { force: true })
  }
}

test('U8 a self-heal that reverts the tag is named within seconds', async () => {
  await play(byTag, async (stage) => {
    stage.label(flux)
    stage.api.add({
      is: 'reverts',
      resource: 'kubevirts',
      path: ['spec', 'imageTag'],
      value: 'v1.7.0',
      afterMs: 3 * second,
      by: 'kustomize-controller',
    })
    const ended = await stage.upgrade('v1.8.4', { accept: ['managed-by-gitops'] })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'undone' } })
    expect(ended.text).toContain('kustomize-controller')
    const healed = stage.film.findLast(({ spec }) => spec?.imageTag === 'v1.7.0')?.at ?? 0
    expect(stage.now - healed).toBeLessThan(5 * second)
    expect(await stage.journal.overrides()).toHaveLength(1)
    expect(stage.simulated.store.list(DaemonSets).items).not.toHaveLength(0)
  })
})

test('U9 credentials that end before the estimated end are said at the start', async () => {
  await play(byTag, async (stage) => {
    const ends = async () => new Date(stage.now + 30 * second)
    const { reviewer } = stage.cluster
    const cluster = { ...stage.cluster, reviewer: { ...reviewer, credentialsEnd: ends } }
    const ended = await stage.upgrade('v1.8.4', {}, { cluster, answer: async () => false })
    expect(ended.lines.join('\n')).toMatch(/your credentials expire at .*\(credentials-end\)/)
    const last = async () => new Date(stage.now + 24 * 3600 * second)
    const lasting = { ...stage.cluster, reviewer: { ...reviewer, credentialsEnd: last } }
    const told = await stage.upgrade('v1.8.4', {}, { cluster: lasting, answer: no })
    expect(told.text).not.toContain('credentials')
  })
})
