import { usageError } from '../system/errors.ts'

type Template = 'jsonpath' | 'custom-columns' | 'sort-by'

/** Items of kvup's documents have their names beside the rest, without a `metadata` around them. */
const examples: Record<Template, string> = {
  jsonpath: `a template looks like '{.status}{range .items[*]}{"\\n"}{.name}{end}'`,
  'custom-columns': 'columns look like NAMESPACE:.namespace,NAME:.name',
  'sort-by': 'a field looks like .name',
}

/** Runs a parser; its complaint becomes a usage error (exit 2) that quotes the template. */
export function templateError<T>(format: Template, template: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'JsonPathError') throw error
    throw usageError('output-template', `${format}=${template}: ${error.message}`, {
      remedy: [examples[format], '-o json shows which fields there are'],
    })
  }
}
