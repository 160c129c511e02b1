import { expect, test } from 'vitest'
import { minute, type Stage } from '../stage.ts'
import { denying } from './denying-cluster.ts'
import { lying } from './lying-reader.ts'
import { operatorVersion } from './meanwhile.ts'
import { eusRunOn, eusStatusOn, playAt, restoreOn } from './window-stage.ts'

/** The platform is at 4.20, nothing is borrowed any more, and the operator is at 4.19 still. */
async function leftBehind(stage: Stage): Promise<void> {
  await restoreOn(stage, { pools: true })
  await restoreOn(stage)
  await stage.until(10 * minute)
  expect(operatorVersion(stage)).toBe('4.19.8')
  expect(await stage.journal.overrides()).toEqual([])
}

test('an operator that does not say of which release it is, or may not be read: not "nothing to do"; status shows the cluster all the same', () =>
  playAt('control-plane-4.20')(async (stage) => {
    await leftBehind(stage)
    const hidden = denying(stage.cluster, (_, plural) => plural === 'hyperconvergeds')
    const unread = await eusRunOn(stage, { to: '4.20' }, { cluster: hidden })
    expect(unread.code).not.toBe(0)
    expect(unread.text).not.toContain('nothing to do')
    const cluster = lying(stage.cluster, 'hyperconvergeds', (hco) => {
      delete hco.status.versions
      return hco
    })
    const ended = await eusRunOn(stage, { to: '4.20' }, { cluster })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'operator-unknown' } })
    expect(await eusStatusOn(stage, {}, { cluster })).toMatchObject({ code: 0 })
  }))
