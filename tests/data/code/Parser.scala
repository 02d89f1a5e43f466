package org.example

import scala.util.Try

/** Reads numbers. */
trait Reader[T] {
  def read(text: String): Option[T]
}

object Numbers extends Reader[Int] {
  def read(text: String): Option[Int] = {
    val trimmed = text.trim
    Try(trimmed.toInt).toOption
  }
}

case class Pair(left: Int, right: Int) {
  def sum: Int = left + right
}
