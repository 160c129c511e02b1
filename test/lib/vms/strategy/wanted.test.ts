import { describe, expect, test } from 'vitest'
import { KvupError } from '../../../../src/lib/kube/errors.ts'
import { parseWanted, type TypedSettings } from '../../../../src/lib/vms/strategy/set-strategy.ts'
import fixture from './wanted.json' with { type: 'json' }

function refusal(typed: TypedSettings): KvupError {
  try {
    parseWanted(typed)
  } catch (error) {
    if (error instanceof KvupError) return error
  }
  throw new Error('it was taken')
}

test.each(fixture.taken as unknown as [TypedSettings, object][])('%j', (typed, wanted) => {
  expect(parseWanted(typed)).toEqual(wanted)
})

describe('W7: bad input is exit 2 before the cluster is read', () => {
  test.each(fixture.refused as unknown as [TypedSettings, string, string][])('%j', (typed, reason, helps) => {
    const { exitCode, reason: given, remedy } = refusal(typed)
    expect({ exitCode, reason: given }).toEqual({ exitCode: 2, reason })
    expect(remedy.join('\n')).toMatch(new RegExp(helps, 'u'))
  })
})
