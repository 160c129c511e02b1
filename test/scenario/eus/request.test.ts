import { describe, expect, test } from 'vitest'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import type { Writer } from '../../../src/lib/kube/cluster.ts'
import { ClusterVersions } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { ocp418to420 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import { play, type Stage } from '../stage.ts'
import { beforeWrite } from './before-write.ts'
import { refusing } from './meanwhile.ts'
import { eusAbortOn, eusRunOn, platformOf, serveFiles, small418 } from './window-stage.ts'

const theVersion = { name: 'version' }
const ask = (stage: Stage, desiredUpdate: object) =>
  stage.cluster.writer.mergePatch(ClusterVersions, theVersion, { spec: { desiredUpdate } } as object)
const askedFor = (stage: Stage) => platformOf(stage).spec?.desiredUpdate

/** The platform turns down what it was asked for: before it is, the gate was seen open. */
const refusedOnceAsked = (stage: Stage) => (event: { kind: string; step?: { id: string } }) => {
  if (event.kind === 'step-applied' && event.step?.id === 'request-4.19') stage.simulated.faults.set(refusing)
}

describe('what else desiredUpdate holds', () => {
  test('accepted risks stay, as oc keeps them; what was forced before is not forced again', () =>
    play(small418, async (stage) => {
      const acceptRisks = [{ name: 'VSphereVolumesLeak' }]
      await ask(stage, { version: '4.18.21', acceptRisks, force: true })
      await stage.until(120_000)
      expect(await eusRunOn(stage, { until: 'accepted-4.19' })).toMatchObject({ code: 0 })
      expect(askedFor(stage)).toMatchObject({ version: '4.19.14', acceptRisks })
      expect(askedFor(stage)?.image).toMatch(/@sha256:/u)
      expect(askedFor(stage)).not.toHaveProperty('force')
    }))

  test('an architecture stays, and no image is written beside it', () =>
    play(small418, async (stage) => {
      await ask(stage, { version: '4.18.21', architecture: 'Multi' })
      await stage.until(120_000)
      expect(await eusRunOn(stage, { until: 'accepted-4.19' })).toMatchObject({ code: 0 })
      expect(askedFor(stage)).toEqual({ version: '4.19.14', architecture: 'Multi' })
    }))
})

describe('a request that somebody else makes at the same time', () => {
  const theirs = { version: '4.19.10' }

  test.each([
    ['between the look and the change', /intends[^}]*request-4\.19|request-4\.19[^}]*intends/u],
    ['right before the write', /"ClusterVersion".*desiredUpdate/u],
  ])('%s is not overwritten: the run ends and names it', (_, moment) =>
    play(small418, async (stage) => {
      let asked = false
      const cluster = beforeWrite(
        stage,
        (text) => moment.test(text),
        async () => {
          asked = true
          stage.simulated.faults.set(refusing)
          await ask(stage, theirs)
        },
      )
      const ended = await eusRunOn(stage, {}, { cluster })
      expect(asked).toBe(true)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'update-armed' } })
      expect(ended.error?.message).toContain('4.19.10')
      expect(ended.text).toContain('someone else requested the platform update to 4.19.10')
      expect(ended.text).not.toContain('kvup eus abort withdraws it')
      expect(askedFor(stage)).toEqual(theirs)
    }),
  )
})

/** Its note went with the write that took it back: what is there now is somebody else's, and a person says what becomes of it. */
test('a request that was taken back and is there still is asked about with its kept value, and says that it starts by itself', () =>
  play(small418, async (stage) => {
    const { cluster } = stage
    /** Somebody's controller sets it again at once. */
    const writer = new Proxy(cluster.writer, {
      get(target, name: keyof Writer) {
        const call = target[name] as (...args: unknown[]) => Promise<unknown>
        return async (...args: unknown[]) => {
          const asked = askedFor(stage)
          const result = await call.apply(target, args)
          if (asked?.version === '4.19.14' && askedFor(stage)?.version !== '4.19.14')
            await ask(stage, { ...asked })
          return result
        }
      },
    })
    const ended = await eusRunOn(
      stage,
      {},
      {
        cluster: { ...cluster, writer },
        onEvent: refusedOnceAsked(stage),
      },
    )
    expect(ended).toMatchObject({ code: 3, error: { reason: 'restore-undone' } })
    expect(ended.text).toContain('oc adm upgrade --clear')
    const claim = { id: 'desired-update', taken: { value: { version: '4.19.14' } } }
    expect(await stage.journal.missing()).toMatchObject([{ id: 'desired-update', why: 'missing', claim }])
    const asked = askedFor(stage)
    const next = await eusAbortOn(stage)
    expect(next).toMatchObject({ code: 3, error: { reason: 'saved-value-missing' } })
    expect(askedFor(stage)).toEqual(asked)
  }))

test('a release that is offered with another image than the plan has is not asked for', () =>
  play(small418, async (stage) => {
    const other = servedGraph(ocp418to420).replaceAll(/sha256:[0-9a-f]{64}/gu, `sha256:${'a'.repeat(64)}`)
    stage.files.set('other.json', other)
    serveFiles(stage)
    const options = { accept: [], graphFile: 'other.json', catalogFile: 'catalog.yaml', toFile: 'plan.yaml' }
    await stage.perform((cx) => planEus(cx, options), { commandLine: 'kvup eus plan' })
    const spec = structuredClone(platformOf(stage).spec)
    const ended = await eusRunOn(stage, { plan: 'plan.yaml', graphFile: 'other.json' })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'image-differs' } })
    expect(platformOf(stage).spec?.desiredUpdate).toEqual(spec?.desiredUpdate)
  }))
