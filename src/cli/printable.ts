/**
 * Text of a device or of a gateway is data. Printed as it came, it could move the cursor, hide what stands beside
 * it or type into the shell; so what is not printable is taken out, or shown as an escape in JSON.
 */
import { stripVTControlCharacters } from 'node:util'

/** Controls, formats (direction marks, joiners, soft hyphens), line separators, and halves of surrogate pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** One line of text without anything that a terminal would act upon. */
export function printable(value: string): string {
  return stripVTControlCharacters(value)
    .replace(/[\t\n\r]+/g, ' ')
    .replace(UNPRINTABLE, '')
}

/** Indented JSON of the same value, all of it printable: JSON itself escapes only a part of the controls. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => line.replace(UNPRINTABLE, escapeOf))
    .join('\n')
}

function escapeOf(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const code = character.charCodeAt(index).toString(16)
    return `\\u${code.padStart(4, '0')}`
  }).join('')
}
