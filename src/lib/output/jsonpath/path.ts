/** One step of a path in kubectl's dialect. A filter keeps the elements for which its comparison holds. */
export type PathStep =
  | { is: 'field'; name: string }
  | { is: 'wildcard' }
  | { is: 'recursive' }
  | { is: 'slice'; from: number | undefined; to: number | undefined; step: number | undefined }
  | { is: 'index'; at: number }
  | { is: 'union'; of: readonly Path[] }
  | { is: 'filter'; left: Operand; operator: Operator; right: Operand }
  | { is: 'exists'; operand: Operand }

export type Path = readonly PathStep[]
export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>='
export type Operand = { is: 'path'; path: Path } | { is: 'literal'; value: string | number | boolean }

/** A template that cannot be parsed, or that does not fit the document. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
}
