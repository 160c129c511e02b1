import { ageOf } from './human-duration.ts'
import { at, isJson, type Json, text } from './json.ts'
import type { Column } from './sim-kind.ts'

type Cell = Column['cell']

export function column(name: string, cell: Cell, type: Column['type'] = 'string'): Column {
  return { name, type, cell }
}

/** Shown by `-o wide` only. */
export function wide(name: string, cell: Cell): Column {
  return { name, type: 'string', priority: 1, cell }
}

/** A column that is one value of the object, or `<none>`. */
export function field(name: string, ...path: readonly string[]): Column {
  return column(name, (object) => shown(at(object, ...path)))
}

export const nameColumn = column('Name', (object) => object.metadata.name)
export const ageColumn = column('Age', (object, now) => ageOf(object.metadata.creationTimestamp, now))

function shown(value: unknown): string | number | boolean {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return value === undefined || value === null ? '<none>' : JSON.stringify(value)
}

/** The additionalPrinterColumns of a CustomResourceDefinition. */
export function jsonPathColumns(definitions: readonly Json[]): Column[] {
  return definitions.map((definition) => {
    const type = (text(definition, 'type') ?? 'string') as Column['type']
    const steps = parsePath(text(definition, 'jsonPath') ?? '')
    const priority = Number(definition['priority'] ?? 0)
    const name = text(definition, 'name') ?? ''
    const cell: Cell = (object, now) => {
      const value = walk(object, steps)
      return type === 'date' ? ageOf(value, now) : value === undefined || value === null ? '' : shown(value)
    }
    return { name, type: type === 'date' ? 'string' : type, priority, cell }
  })
}

type Step = string | number | { where: string; is: string }

/** Enough of JSONPath for printer columns: members, positions and `[?(@.type=='Ready')]`. */
function parsePath(path: string): Step[] {
  const pattern =
    /\.([A-Za-z0-9_-]+)|\[(\d+)\]|\['([^']+)'\]|\[\?\(@\.([A-Za-z0-9_]+)\s*==\s*["']([^"']*)["']\)\]/g
  return [...path.replaceAll('\\.', '.').matchAll(pattern)].map(([, name, index, quoted, where, is]) => {
    if (where !== undefined) return { where, is: is ?? '' }
    return index === undefined ? (name ?? quoted ?? '') : Number(index)
  })
}

function walk(object: unknown, steps: readonly Step[]): unknown {
  let found = object
  for (const step of steps) {
    if (typeof step === 'string') found = at(found, step)
    else if (!Array.isArray(found)) return undefined
    else
      found = found.find((item, i) =>
        typeof step === 'number' ? i === step : isJson(item) && item[step.where] === step.is,
      )
  }
  return found
}
