import { expect, test } from 'vitest'
import { Refusal } from '../../src/simulator/api/api-refusal.ts'
import { byManifest, play } from './stage.ts'

test('L13 where nothing but the loan was written nobody is led back', async () => {
  await play(byManifest, async (stage) => {
    stage.simulated.store.admission.add(({ kind, operation }) => {
      if (kind.kind === 'Deployment' && operation === 'UPDATE')
        throw new Refusal(409, 'Conflict', 'the object has been modified')
    })
    const ended = await stage.upgrade('v1.9.0')
    expect(ended.code).not.toBe(0)
    expect(ended.text).not.toContain('goes back')
    expect(ended.text).not.toContain('going back to')
    expect(ended.text).not.toContain('deletes the CRDs')
  })
})
