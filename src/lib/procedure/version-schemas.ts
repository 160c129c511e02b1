import { CustomResourceDefinitions, type CustomResourceDefinition } from '../cluster/kinds/extension.ts'
import type { FieldChange } from '../cluster/leaves.ts'
import type { KubeObject } from '../cluster/object.ts'
import { schemaChange } from '../cluster/schema-change.ts'

/** One change per version whose schema differs: thousands of lines that nobody would read. */
export function versionSchemas(
  before: KubeObject | undefined,
  after: KubeObject | undefined,
): readonly FieldChange[] {
  const [was, is] = [schemas(before), schemas(after)]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((version) => {
    const change = schemaChange(was.get(version), is.get(version))
    return change === undefined ? [] : [{ path: `spec.versions[${version}].schema`, ...change }]
  })
}

/** The object without them, if it is a CustomResourceDefinition. */
export function withoutSchemas<T extends KubeObject>(object: T): T {
  if (!isDefinition(object) || object.spec?.versions === undefined) return object
  const versions = object.spec.versions.map(withoutSchema)
  return { ...object, spec: { ...object.spec, versions } }
}

function withoutSchema(version: object): { name: string } {
  const { schema: _, ...rest } = version as { name: string; schema?: unknown }
  return rest
}

function schemas(object: KubeObject | undefined): ReadonlyMap<string, unknown> {
  if (object === undefined || !isDefinition(object)) return new Map()
  return new Map(object.spec?.versions?.map(({ name, schema }) => [name, schema]))
}

function isDefinition(object: KubeObject): object is CustomResourceDefinition {
  return object.kind === CustomResourceDefinitions.kind
}
