import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/kube/clock.ts'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { readSchema, validate } from '../docs/json-schema.ts'
import { runText } from '../run-text.ts'
import { dumpOf, rollout, rollouts as folder } from './rollouts.ts'

/** Platforms on their way and at rest, each with what kvup tells of it. */
const names = readdirSync(folder).filter((name) => !name.includes('.'))
const schemas = new Map(
  readdirSync('docs/schema')
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, readSchema('docs/schema', name)]),
)
const offline = { cluster: {} as Cluster, clock: systemClock }

/** Names, verdicts and numbers of a document, a line for each short part: a sentence stands in the text. */
function bare(value: unknown, path = ''): string[] {
  if (typeof value === 'string' && value.includes(' ')) return []
  const text = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || (text.length < 120 && !text.includes(' ')))
    return [`${path} ${text}`]
  return Object.entries(value).flatMap(([name, part]) => bare(part, `${path}.${name}`))
}

async function pageOf(run: string, dump: string): Promise<string> {
  const line = [...run.split(' '), '--from', dump]
  const { code, out, err } = await runText(run === 'status' ? [...line, '--exit-code'] : line, offline)
  const wide = await runText([...line, '-o', 'wide'], offline)
  const more = wide.out.split('\n').filter((one) => !out.includes(one))
  const document = JSON.parse((await runText([...line, '-o', 'json'], offline)).out) as object
  const schema = `${run.split(' --', 1)[0]?.replace(' ', '-')}.json`
  expect(validate(document, schema, schemas)).toEqual([])
  return [
    `$ kvup ${run}`,
    out + err,
    `exit ${code}`,
    ...(run === 'status' ? more : []),
    ...bare(document),
  ].join('\n')
}

/** What the dump does not have is the same of each. */
const isOfAll = (line: string) => /DUMP does not contain|"(?:apiVersion|kind)"|^\.plan /u.test(line)

async function page(name: string): Promise<string> {
  const example = rollout(name)
  const dump = dumpOf(example)
  const pages = await Promise.all(example.runs.map((run) => pageOf(run, dump)))
  const lines = pages.join('\n').replaceAll(dump, 'DUMP').split('\n')
  return `${lines.filter((line) => !isOfAll(line)).join('\n')}\n`
}

test.each(names)('%s', async (name) => {
  const actual = await page(name)
  const file = `${folder}${name}/expected.txt`
  if (process.env['UPDATE'] === '1') writeFileSync(file, actual)
  expect(actual).toBe(readFileSync(file, 'utf8'))
})
