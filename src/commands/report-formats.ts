import type { ReportFormat } from '../lib/output/printer.ts'

/** Formats that only some commands have, besides those of `-o` everywhere. */
export const reportFormats: Readonly<Record<string, readonly ReportFormat[]>> = {
  check: ['junit', 'sarif', 'markdown'],
  plan: ['markdown'],
}
