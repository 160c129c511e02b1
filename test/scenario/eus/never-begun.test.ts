import { expect, test } from 'vitest'
import { ocp418to420 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { type Ended, play, type Stage } from '../stage.ts'
import { asTyped } from '../../../src/lib/eus/planned-eus.ts'
import { eusRunOn, type Shape, small418 } from './window-stage.ts'

const remedyOf = ({ error }: Ended): string => error?.remedy.join('\n') ?? ''

async function expectNothingBorrowed(stage: Stage): Promise<void> {
  expect(stage.writes()).toEqual([])
  expect(await stage.journal.overrides()).toEqual([])
}

const tooLong = { to: '4.21' } as const

test('a window that the kubelets do not bear is refused, not offered for acceptance, and not accepted by who names it', () =>
  play(small418, async (stage) => {
    const ended = await eusRunOn(stage, { ...tooLong, accept: ['operator-stranded', 'path-unknown'] })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'window-too-long' } })
    // Made from the files and risks that were typed.
    expect(ended.error?.remedy[0]).toMatch(
      /^kvup eus plan --to 4\.20 --graph-file graph\.json --catalog-file catalog\.yaml --accept operator-stranded --accept path-unknown {5,}goes as far/u,
    )
    expect(remedyOf(ended)).not.toContain('     accepts ')
    const accept = ['window-too-long', 'operator-path-unknown', 'operator-stranded']
    const named = await eusRunOn(stage, { ...tooLong, accept })
    expect(named).toMatchObject({ code: 2, error: { reason: 'not-acceptable' } })
    await expectNothingBorrowed(stage)
  }))

test('what a line of a remedy names itself is not said twice, and other lines stay as they are', () => {
  const remedy = ['kvup eus plan --graph-file FILE      shows the whole upgrade path', 'oc adm upgrade']
  const finding = { id: 'path-unknown', level: 'not-checked', summary: '', remedy } as const
  const typed = { to: '4.20', graphFile: 'old.json', catalogFile: 'my files/c.yaml', accept: [] }
  expect(asTyped([finding], typed)[0]?.remedy).toEqual([
    "kvup eus plan --graph-file FILE --to 4.20 --catalog-file 'my files/c.yaml'      shows the whole upgrade path",
    'oc adm upgrade',
  ])
})

/** No channel of extended support that leads to 4.20 holds the release that runs, yet. */
const withoutEus420 = (channel: string): Shape => ({
  ...small418,
  openshift: {
    ...ocp418to420,
    channel,
    graph: ocp418to420.graph.map((release) =>
      release.version === '4.18.21'
        ? Object.assign({}, release, { channels: release.channels.filter((one) => one !== 'eus-4.20') })
        : release,
    ),
  },
})

test('a first hop that no channel offers, and none is there to set: nothing is begun', () =>
  play(withoutEus420('eus-4.18'), async (stage) => {
    const ended = await eusRunOn(stage, { to: '4.20', accept: ['channel-not-available'] })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'first-hop-not-offered' } })
    expect(ended.error?.message).toContain('the first step, is not offered in channel eus-4.18')
    expect(remedyOf(ended)).not.toContain('     accepts ')
    await expectNothingBorrowed(stage)
  }))

test('where the channel that is set offers the first hop, a later one may find its own', () =>
  play(withoutEus420('stable-4.19'), async (stage) => {
    const ended = await eusRunOn(stage, { to: '4.20' })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'channel-not-available' } })
    expect(remedyOf(ended)).toContain('--accept channel-not-available     accepts channel-not-available')
    await expectNothingBorrowed(stage)
  }))
