import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { losses } from './additions.ts'
import { readSchema } from './json-schema.ts'
import fixture from './additions.json' with { type: 'json' }

const read = (folder: string) =>
  new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => [name, readSchema(folder, name)]),
  )
const baseline = read('docs/schema/baseline')
const now = read('docs/schema')

test('manner 17: documents only gain: nothing that was promised is gone or has become something else', () => {
  expect(losses(baseline, now)).toEqual([])
})

/** What is lost when the value at that path of a baseline file is another one (undefined: gone). */
function changed(file: string, path: string, value: unknown): string[] {
  const schema = structuredClone(baseline.get(file)) ?? {}
  const names = path.split('.')
  const last = names.pop() ?? ''
  let at = schema as Record<string, unknown>
  for (const name of names) at = at[name] as Record<string, unknown>
  if (value === undefined) delete at[last]
  else at[last] = value
  return losses(baseline, new Map([...baseline, [file, schema]]))
}

test.each<[string, string, string, unknown, string]>(fixture.bites as never)(
  'the guard bites: %s',
  (...[, file, path, value, said]) => {
    expect(changed(file, path, value ?? undefined)).toContain(said)
  },
)

test('the guard bites: a file less', () => {
  const withoutVersion = new Map([...now].filter(([file]) => file !== 'version.json'))
  expect(losses(baseline, withoutVersion)).toContain('version.json is gone')
})

test('and lets additions pass', () => {
  expect(changed('version.json', 'properties.more', { type: 'string' })).toEqual([])
  const verdicts = ['Healthy', 'Updating', 'Stalled', 'Degraded', 'Unknown']
  expect(changed('status.json', 'properties.verdict.enum', verdicts)).toEqual([])
})
