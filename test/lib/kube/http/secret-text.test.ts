// Much of each thing that looks like a secret: more than 3 s of processor time.
import { describe, expect, test } from 'vitest'
import { redactBody } from '../../../../src/lib/kube/http/trace.ts'
import { withoutSecrets } from '../../../../src/lib/kube/http/secret-text.ts'
import { forms, planted, unmarked } from './secret-forms.ts'
import fixture from './secret-text.json' with { type: 'json' }

describe('a credential goes, however it is written', () => {
  test.each(forms)('%s', (form) => {
    const left = withoutSecrets(unmarked(form))
    expect(left).toContain('<redacted>')
    expect(planted(form).filter((one) => left.includes(one))).toEqual([])
    // In a document and in a text that is no JSON any more.
    const document = redactBody(JSON.stringify({ text: unmarked(form) }), '')
    expect(planted(form).filter((one) => document.includes(one))).toEqual([])
    const cut = withoutSecrets(`{"a":1, ${JSON.stringify({ text: unmarked(form) })}`)
    expect(planted(form).filter((one) => cut.includes(one))).toEqual([])
    // Nothing is left to be hidden when it is done again.
    expect(withoutSecrets(left)).toBe(left)
  })
})

describe('what stands around it stays', () => {
  test.each(fixture.around as [string, string][])('%s', (text, left) =>
    expect(withoutSecrets(text)).toBe(left),
  )
})

describe('no credential is seen where there is none', () => {
  test.each(fixture.innocent)('%s', (text) => expect(withoutSecrets(text)).toBe(text))
})

/** Half a match over and over, of which each expression could make much. */
const halves = fixture.halves
test.each(halves)('a quarter of a megabyte of %j ends', (half) => {
  const text = half.repeat(Math.ceil(250_000 / half.length))
  expect(withoutSecrets(text).length).toBeLessThan(8_000_000)
  expect(withoutSecrets(`${text} password=hunter2`)).not.toContain('hunter2')
})
