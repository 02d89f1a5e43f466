package org.example

import java.time.Instant

/** An account and its balance. */
data class Account(
    val owner: String,
    var balance: Long,
) {
    fun deposit(amount: Long) {
        require(amount > 0)
        balance += amount
    }

    companion object {
        fun empty(owner: String) = Account(owner, 0)
    }
}

interface Auditor {
    fun audit(account: Account): Boolean
}

@Test
fun largest(accounts: List<Account>): Account? {
    return accounts.maxByOrNull { it.balance }
}
