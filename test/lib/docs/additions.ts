import { resolved, type Schema, type Schemas } from './json-schema.ts'

/** What a reader of the documents would miss: fields that went, or became something else. Additions are none. */
export function losses(before: Schemas, now: Schemas): string[] {
  return [...before].flatMap(([file, schema]) => {
    const present = now.get(file)
    if (!present) return [`${file} is gone`]
    const pair = { before: { schema, file }, now: { schema: present, file } }
    return lost(pair, { at: file, before, now })
  })
}

interface Pair {
  before: { schema: Schema; file: string }
  now: { schema: Schema; file: string }
}

interface Place {
  at: string
  before: Schemas
  now: Schemas
}

function lost(pair: Pair, place: Place): string[] {
  const before = resolved(pair.before.schema, pair.before.file, place.before)
  const now = resolved(pair.now.schema, pair.now.file, place.now)
  const below = (at: string, a: Schema, b: Schema) =>
    lost(
      { before: { schema: a, file: before.file }, now: { schema: b, file: now.file } },
      { ...place, at: `${place.at}${at}` },
    )
  const [a, b] = [before.schema, now.schema]
  const say = (what: string) => `${place.at}: ${what}`
  return [
    ...(a.type === b.type ? [] : [say(`was ${a.type}, is ${b.type}`)]),
    ...('const' in a && a.const !== b.const ? [say(`was ${a.const}, is ${b.const}`)] : []),
    ...(a.enum ?? [])
      .filter((value) => !b.enum?.includes(value))
      .map((value) => say(`lost ${String(value)}`)),
    ...promised(a)
      .filter((name) => !promised(b).includes(name))
      .map((name) => say(`${name} may be absent now`)),
    ...fieldsOf(a).flatMap(([name, field]) => {
      const same = b.properties?.[name]
      return same ? below(`.${name}`, field, same) : [say(`${name} is gone`)]
    }),
    ...both('[]', a.items, b.items, below),
    ...both('.*', a.additionalProperties, b.additionalProperties, below),
    ...(a.oneOf ?? []).flatMap((one) => {
      const name = one.properties?.['event']?.const
      const same = b.oneOf?.find((other) => other.properties?.['event']?.const === name)
      return same ? below(`(${String(name)})`, one, same) : [say(`${String(name)} is gone`)]
    }),
  ]
}

const fieldsOf = ({ properties = {} }: Schema) => Object.entries(properties)
const promised = (schema: Schema) => [...(schema.required ?? []), ...(schema.else?.required ?? [])]

function both(
  at: string,
  a: Schema | undefined,
  b: Schema | undefined,
  below: (at: string, a: Schema, b: Schema) => string[],
): string[] {
  if (!a) return []
  return b ? below(at, a, b) : [`${at} is gone`]
}
