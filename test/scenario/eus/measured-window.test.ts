import { expect, test } from 'vitest'
import { availabilityOf, creates, probeOf, virtApiAway } from '../measured-stage.ts'
import { minute, play } from '../stage.ts'
import { eusRunOn, small418 } from './window-stage.ts'

test('an EUS upgrade that is out of time tells what was measured, and how far it got', async () => {
  await play(small418, async (stage) => {
    virtApiAway(stage, 10 * minute, minute)
    const measuring = { measure: true, timeout: '30m' }
    const ended = await eusRunOn(stage, measuring, { cluster: stage.shaky })
    expect(ended).toMatchObject({ code: 4 })
    const [document, ...more] = ended.documents
    expect(more).toEqual([])
    expect(document).toMatchObject({ kind: 'EusReport', from: '4.18', to: '4.20' })
    expect(document).not.toHaveProperty('outcome')
    expect((document as unknown as { steps: object[] }).steps.length).toBeGreaterThan(0)
    expect(ended.text).toMatch(/! API unavailable for/u)
  })
})

test('an EUS upgrade is measured to its end: an outage has the step that was under way', async () => {
  await play(small418, async (stage) => {
    virtApiAway(stage, 10 * minute, minute)
    const since = stage.mark
    const measuring = { measure: true, until: 'platform-4.19' }
    const ended = await eusRunOn(stage, measuring, { cluster: stage.shaky })
    expect(ended).toMatchObject({ code: 0 })
    const measured = availabilityOf(ended)
    const { outages } = probeOf(measured, 'create')
    expect(Math.abs((outages[0]?.seconds ?? 0) - 60)).toBeLessThan(2)
    expect(outages[0]?.steps).toEqual([expect.stringMatching(/^platform-4\.19/u)])
    // The only node of this control plane reboots: nobody is there, and what follows from it is told.
    expect(outages.slice(1).map(({ rolling }) => rolling)).toEqual([expect.arrayContaining(['virt-api'])])
    expect(measured.promise.is).toBe('broken')
    expect(ended.text).toMatch(/API unavailable for \d m \d+ s in 2 outages/u)
    expect(creates(stage, since).filter(({ dryRun }) => !dryRun)).toEqual([])
  })
})
