import type { Context, GlobalFlags, Wire } from '../context.ts'
import { type Settled, settledSettings } from '../settings.ts'
import type { Column, Document, View } from '../lib/output/printer.ts'
import { table } from '../lib/output/table.ts'
import { KvupCommand } from './command-options.ts'

export interface ConfigViewOptions {
  showOrigin?: boolean
}

export interface ConfigDocument extends Document {
  kind: 'Configuration'
  items: readonly Settled[]
}

const examples = [
  ['kvup config view', 'show the values in force'],
  ['kvup config view --show-origin', 'show where each comes from'],
] as const

export function configCommand(wire: Wire): KvupCommand {
  return new KvupCommand('config')
    .addCommand(
      new KvupCommand('view')
        .description('Show what flags, KVUP_* variables and the config file add up to')
        .option('--show-origin', 'say where each value comes from')
        .manual({ examples })
        .action(wire<ConfigViewOptions, []>(configView)),
    )
    .manual({ examples })
}

/** Reads environment and file only; no cluster. */
export async function configView(cx: Context, { showOrigin = false }: ConfigViewOptions): Promise<void> {
  const settled = await settledSettings(cx.world.env, (file) => cx.world.readText(file))
  const items = settled.map((setting) => underFlag(setting, cx.flags))
  cx.printer.result({ apiVersion: 'kvup.io/v1alpha1', kind: 'Configuration', items }, viewOf(showOrigin))
}

/** A flag that differs from what environment and file say was typed. */
function underFlag(setting: Settled, flags: GlobalFlags): Settled {
  const flag = { output: flags.output, color: flags.color, context: flags.context }
  const typed = { ...flag, 'request-timeout': flags.requestTimeout }[setting.name]
  if (typed === undefined || typed === setting.value) return setting
  return { name: setting.name, value: typed, origin: 'flag', at: `--${setting.name}` }
}

const columns: readonly Column<Settled>[] = [
  { name: 'SETTING', cell: ({ name }) => name },
  { name: 'VALUE', cell: ({ value }) => value },
]
const origin: Column<Settled> = {
  name: 'ORIGIN',
  holds: 'text',
  cell: ({ origin: from, at }) => (at === '' ? from : `${from} ${at}`),
}

function viewOf(showOrigin: boolean): View<ConfigDocument> {
  const shown = showOrigin ? [...columns, origin] : columns
  return {
    text: ({ items }, paint, size) => table(shown, items, { ...size, paint }),
    names: ({ items }) => items.map(({ name }) => `setting/${name}`),
  }
}
