import { parse } from 'yaml'

/** In a file of its own, to be imported late. Merge keys are kept, as kubectl does. */
export function parseYaml(text: string): unknown {
  return parse(text, { merge: true })
}
