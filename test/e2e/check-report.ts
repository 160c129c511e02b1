import { type KvupOptions, kvup } from './kvup.ts'
import type { Lab } from './lab.ts'

interface Finding {
  id: string
  level: 'blocker' | 'warning' | 'info' | 'not-checked'
  summary: string
  objects?: string[]
  remedy: string[]
}

interface Item {
  id: string
  is: 'passed' | 'found' | 'not-checked' | 'skipped'
  findings: Finding[]
}

export interface Checked {
  code: number
  items: readonly Item[]
  /** One check by its id; throws where there is none. */
  readonly of: (id: string) => Item
  /** `webhooks-answering: …` for all that stops an upgrade. */
  blockers: readonly string[]
}

/** `kvup check … -o json` of the built program. Throws where it printed no report. */
export async function checked(
  lab: Lab,
  args: readonly string[],
  options: KvupOptions = {},
): Promise<Checked> {
  const { code, stdout, stderr } = await kvup(lab, ['check', ...args, '-o', 'json'], options)
  const { items } = reportIn(stdout, stderr)
  return {
    code,
    items,
    of: (id) => {
      const found = items.find((item) => item.id === id)
      if (found === undefined) throw new Error(`no check ${id} among ${items.map((item) => item.id).join()}`)
      return found
    },
    blockers: items
      .flatMap(({ findings }) => findings)
      .filter(({ level }) => level === 'blocker' || level === 'not-checked')
      .map(({ id, summary }) => `${id}: ${summary}`),
  }
}

function reportIn(stdout: string, stderr: string): { items: Item[] } {
  try {
    const report = JSON.parse(stdout) as { items?: Item[] }
    if (report.items !== undefined) return { items: report.items }
  } catch {
    // said below
  }
  throw new Error(`kvup check printed no report:\n${stdout}${stderr}`)
}
