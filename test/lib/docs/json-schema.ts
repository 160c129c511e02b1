import { readFileSync } from 'node:fs'

/** The part of JSON Schema 2020-12 that docs/schema uses. A keyword that is not here is refused by `validate`. */
export interface Schema {
  $schema?: string
  $ref?: string
  $defs?: Readonly<Record<string, Schema>>
  title?: string
  description?: string
  format?: string
  minimum?: number
  type?: string
  const?: unknown
  enum?: readonly unknown[]
  required?: readonly string[]
  properties?: Readonly<Record<string, Schema>>
  additionalProperties?: Schema
  items?: Schema
  oneOf?: readonly Schema[]
  if?: Schema
  then?: Schema
  else?: Schema
}

/** A folder of schemas that refer to each other by file name. */
export type Schemas = ReadonlyMap<string, Schema>

const known = new Set(
  'type const enum required properties additionalProperties items oneOf if then else $ref $schema $defs title description format minimum'.split(
    ' ',
  ),
)

export function readSchema(folder: string, file: string): Schema {
  return JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Schema
}

/** What a `$ref` stands for, and the file in which its own references are to be looked up. */
export function resolved(schema: Schema, file: string, schemas: Schemas): { schema: Schema; file: string } {
  if (schema.$ref === undefined) return { schema, file }
  const [other, name] = schema.$ref.split('#/$defs/')
  const where = other || file
  const found = schemas.get(where)?.$defs?.[name ?? '']
  if (!found) throw new Error(`${file}: ${schema.$ref} leads nowhere`)
  return resolved(found, where, schemas)
}

/** What is wrong with the value, by path. Stricter than the schemas: a field that none of them names is wrong too. */
export function validate(value: unknown, file: string, schemas: Schemas): string[] {
  const schema = schemas.get(file)
  if (!schema) throw new Error(`there is no schema ${file}`)
  return problems(value, schema, { at: '', file, schemas })
}

interface Place {
  at: string
  file: string
  schemas: Schemas
}

function problems(value: unknown, unresolved: Schema, place: Place): string[] {
  const { schema, file } = resolved(unresolved, place.file, place.schemas)
  const here = { ...place, file }
  const unknown = Object.keys(schema).filter((keyword) => !known.has(keyword))
  if (unknown.length > 0) throw new Error(`${file}: this validator does not know ${unknown.join(', ')}`)
  return [
    ...ofValue(value, schema, here),
    ...ofChoice(value, schema, here),
    ...(Array.isArray(value) ? ofItems(value, schema, here) : []),
    ...(isObject(value) ? ofFields(value, schema, here) : []),
  ]
}

function ofValue(value: unknown, schema: Schema, { at }: Place): string[] {
  const wrong = (what: string) => [`${at || '.'}: ${JSON.stringify(value)} ${what}`]
  if (schema.type !== undefined && !isOfType(value, schema.type)) return wrong(`is no ${schema.type}`)
  if ('const' in schema && value !== schema.const) return wrong(`is not ${JSON.stringify(schema.const)}`)
  if (schema.enum && !schema.enum.includes(value)) return wrong(`is none of ${schema.enum.join(', ')}`)
  if (schema.format === 'date-time' && Number.isNaN(Date.parse(String(value)))) return wrong('is no time')
  if (schema.minimum !== undefined && typeof value === 'number' && value < schema.minimum)
    return wrong(`is less than ${schema.minimum}`)
  return []
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function ofChoice(value: unknown, schema: Schema, place: Place): string[] {
  const attempts = (schema.oneOf ?? []).map((one) => problems(value, one, place))
  const fits = attempts.filter((found) => found.length === 0).length
  const closest = attempts.toSorted((a, b) => a.length - b.length)[0] ?? []
  const choice = schema.oneOf && fits !== 1 ? [`${place.at || '.'}: fits ${fits} of oneOf`, ...closest] : []
  if (!schema.if) return choice
  const holds = conditionHolds(value, schema.if)
  return [...choice, ...missing(value, (holds ? schema.then : schema.else)?.required, place)]
}

/** Of an `if` only constants of fields are used. */
function conditionHolds(value: unknown, { properties = {} }: Schema): boolean {
  return Object.entries(properties).every(([name, one]) => isObject(value) && value[name] === one.const)
}

function ofItems(value: readonly unknown[], { items }: Schema, place: Place): string[] {
  return items ? value.flatMap((item, i) => problems(item, items, { ...place, at: `${place.at}[${i}]` })) : []
}

function ofFields(value: Record<string, unknown>, schema: Schema, place: Place): string[] {
  const { properties, additionalProperties: rest } = schema
  const inner = Object.entries(value).flatMap(([name, field]) => {
    const at = `${place.at}.${name}`
    const one = properties?.[name] ?? rest
    if (one) return problems(field, one, { ...place, at })
    return properties ? [`${at}: no schema names it`] : []
  })
  return [...missing(value, schema.required, place), ...inner]
}

function missing(value: unknown, required: readonly string[] = [], { at }: Place): string[] {
  return required
    .filter((name) => isObject(value) && value[name] === undefined)
    .map((name) => `${at}.${name}: is missing`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
